"""Writes titles, abstracts and full texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corpus_builder.world import language as say
from corpus_builder.world._config import WorldConfig
from corpus_builder.world.language import FAMILY_NAMES, GIVEN_NAMES, WORDINGS
from corpus_builder.world.topics import TopicTree, title_case

Take = Callable[[], int]

DRAWS = 96
"""Random 32-bit numbers that one paper's text may use up."""

_SLOTS = 16  # a topic mentioned in a sentence is one of this many, levels in fixed proportion
_LEAF_SLOTS = 6  # at least
_MOST_DISTRACTOR_SLOTS = 9  # too few to outrank the papers most typical of the topic mentioned
_EMPHASIS = (0, 1, 1, 1, 2, 4, 7, 8)  # slots of the survey's topic, by typicality, at depth 3
_CORE_SHARE = 0.3  # of the papers, the most typical, say the survey's topic in title and abstract
_ALIAS_SHARE = 0.4  # of the papers give another wording of a topic they belong to
_ALIAS_OF_SURVEY_TOPIC = 0.65  # of those, of the topic that surveys treat
_DISTRACTOR_IN_TITLE = 0.1
_ASIDE_ONE_IN = 3  # distractors mention their topic in the abstract


Text = dict[str, Any]
"""The written part of a paper record: ``title``, ``abstract``, ``sections``."""


class Writer:
    """Writes papers of one world; holds the proportions in which topics are mentioned."""

    def __init__(self, config: WorldConfig, tree: TopicTree) -> None:
        self._tree = tree
        self._synonymy = config.synonymy
        self._distractors = config.distractors
        self._core = 1 - _CORE_SHARE * min(1.0, _fading(tree))
        self._most_mentions = min(
            _MOST_DISTRACTOR_SLOTS, round(_MOST_DISTRACTOR_SLOTS * _fading(tree))
        )
        self._proportions = [_proportions(tree, emphasis) for emphasis in _EMPHASIS]

    def paper(
        self, chain: list[int], typical: float, draws: list[int], shares: list[float]
    ) -> Text:
        """Write a paper.

        Args:
            chain: The numbers of its topics, from the field down to the leaf.
            typical: How typical it is of the topic that surveys treat, in [0, 1).
            draws: `DRAWS` random 32-bit numbers.
            shares: ``len(chain) + 4`` random numbers in [0, 1).
        """
        tree, take = self._tree, iter(draws).__next__
        alias, alias_level, distracts, in_title = shares[-4:]
        wordings = [
            1 + take() % (WORDINGS - 1) if share < self._synonymy else 0 for share in shares[:-4]
        ]
        phrases = [tree.phrase(t, w) for t, w in zip(chain, wordings, strict=True)]
        levels = self._proportions[int(typical * len(self._proportions))]
        slots = [phrases[level] for level in levels]
        body = list(slots)  # distraction stays out of the abstract except for one aside
        topic = phrases[tree.survey_level]
        near = tree.neighbours(chain[tree.survey_level])
        rival = tree.phrase(near[take() % len(near)])
        core = typical > self._core
        title = _title(phrases[-1], topic if core else phrases[-1], take())
        is_distracting = distracts < self._distractors
        if is_distracting:
            mentions = 1 + take() % self._most_mentions
            body[:mentions] = [rival] * mentions
            if in_title < _DISTRACTOR_IN_TITLE and not core:
                title += f" Compared with {title_case(rival)}"
        patterns = _patterns(take())
        abstract = [_fill_from(say.OPENINGS, phrases[-1], take)]
        if core:
            abstract.append(_fill_from(say.BEARINGS, topic, take))
        for _ in range(2 + take() % 3):
            fit = next(k for k in patterns if say.SUMMARY[k])
            patterns.remove(fit)
            abstract.append(_fill(say.PATTERNS[fit], slots, take()))
        if is_distracting and not take() % _ASIDE_ONE_IN:
            abstract.append(_fill_from(say.ASIDES, rival, take))
        abstract.append(say.MADE_UP)
        sections = _sections(patterns, body, take)
        if alias < _ALIAS_SHARE:
            level = tree.survey_level if alias_level < _ALIAS_OF_SURVEY_TOPIC else tree.depth
            own = wordings[level]
            other = 0 if own else 1 + take() % (WORDINGS - 1)
            pattern = say.ALIASES[take() % len(say.ALIASES)]
            sentence = pattern.format(phrases[level], tree.phrase(chain[level], other))
            sections[0]["text"] += f" {sentence}"
        return {"title": title, "abstract": " ".join(abstract), "sections": sections}

    def survey(self, title: str, topic: int, draws: list[int]) -> Text:
        """Write a survey paper of `topic` with a section for each of up to four of its parts."""
        tree, take = self._tree, iter(draws).__next__
        patterns = _patterns(take())
        subject = [tree.phrase(topic)] * _SLOTS
        abstract = [_fill(pattern, subject, take()) for pattern in say.SURVEY_ABSTRACT]
        sections = [_section("Introduction", patterns, subject, 5, take)]
        for part in (tree.parts(topic) or [topic])[:4]:
            own = [tree.phrase(part)] * _SLOTS
            sections.append(_section(tree.name(part), patterns, own, 5, take))
        for heading in ("Comparison", "Open Problems", "Conclusion")[: max(1, 5 - len(sections))]:
            sections.append(_section(heading, patterns, subject, 5, take))
        return {
            "title": title,
            "abstract": " ".join([*abstract, say.MADE_UP]),
            "sections": sections,
        }


def authors(draw: int) -> list[str]:
    """Return one to four made-up names, chosen by a random 32-bit number."""
    names = []
    for _ in range(1 + draw % 4):
        draw = draw * 1_103_515_245 + 12_345 & 0xFFFFFFFF
        first_name = GIVEN_NAMES[(draw >> 8) % len(GIVEN_NAMES)]
        names.append(f"{first_name} {FAMILY_NAMES[(draw >> 16) % len(FAMILY_NAMES)]}")
    return list(dict.fromkeys(names))


def _proportions(tree: TopicTree, emphasis: int) -> list[int]:
    """Return the level that each slot mentions.

    The levels between the leaf and the survey's topic share what the leaf leaves over, so that the
    topic of a survey fades with its distance from the leaf.
    """
    between = list(range(tree.survey_level + 1, tree.depth))
    if tree.survey_level == tree.depth:
        return [tree.depth] * _SLOTS
    own = min(int(emphasis * _fading(tree)), _SLOTS - _LEAF_SLOTS - len(between))
    levels = [tree.survey_level] * own
    room = _SLOTS - _LEAF_SLOTS - own
    if between:
        levels += [between[k % len(between)] for k in range(min(room, 3 * len(between)))]
    if tree.survey_level > 1 and len(levels) < _SLOTS - _LEAF_SLOTS:
        levels.append(tree.survey_level - 1)
    levels += [tree.depth] * (_SLOTS - len(levels))
    # Distraction takes the first slots: spread the levels, so that it takes from each its part.
    return [levels[7 * k % _SLOTS] for k in range(_SLOTS)]


def _fading(tree: TopicTree) -> float:
    """Return how often papers mention a survey's topic, as a multiple of that at depth 3."""
    return 2 / max(1, tree.depth - tree.survey_level)


def _title(topic: str, other: str, draw: int) -> str:
    half = len(say.TITLES) // 2
    patterns = say.TITLES[:half] if other == topic else say.TITLES[half:]
    pattern = patterns[(draw & 255) % len(patterns)]
    virtue = say.VIRTUES[(draw >> 8 & 511) % len(say.VIRTUES)].title()
    quality = say.QUALITIES[(draw >> 17 & 511) % len(say.QUALITIES)]
    cost = say.COSTS[(draw >> 26) % len(say.COSTS)].title()
    return pattern.format(title_case(topic), title_case(other), virtue, quality, cost)


def _patterns(draw: int) -> list[int]:
    """Return the numbers of the sentence patterns in an order of their own for each paper.

    Steps of equal length through a prime number of patterns meet them all before any again.
    """
    count = len(say.PATTERNS)
    start, step = draw >> 8, 1 + draw % (count - 1)
    return [(start + step * k) % count for k in range(count)]


def _fill(pattern: str, slots: list[str], draw: int) -> str:
    """Fill one pattern; the bits of `draw` choose the topic and the nouns."""
    virtue = say.VIRTUES[(draw >> 14 & 511) % len(say.VIRTUES)]
    cost = say.COSTS[(draw >> 23) % len(say.COSTS)]
    return pattern.format(slots[draw >> 10 & 15], virtue, cost)


def _fill_from(patterns: tuple[str, ...], topic: str, take: Take) -> str:
    return _fill(patterns[take() % len(patterns)], [topic] * _SLOTS, take())


def _section(
    heading: str, patterns: list[int], slots: list[str], sentences: int, take: Take
) -> dict[str, str]:
    text = " ".join([_fill(say.PATTERNS[patterns.pop()], slots, take()) for _ in range(sentences)])
    return {"heading": heading, "text": text}


def _sections(patterns: list[int], slots: list[str], take: Take) -> list[dict[str, str]]:
    kept = say.KEPT_HEADINGS[4 + take() % 3]
    # Short papers have longer sections; six sections hold 36 sentences at most, an abstract 4.
    least = 4 + (len(kept) == 4)
    return [
        _section(
            say.HEADINGS[k][take() % len(say.HEADINGS[k])],
            patterns,
            slots,
            least + take() % 3,
            take,
        )
        for k in kept
    ]
