"""The language of a synthetic corpus: its words, subjects, and texts of papers.

``language.yaml`` has the words and says what each list is for. A concept has `WORDINGS` words of
near meaning: one canonical, the others its synonyms.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from arena.text.display import plural
from corpus_builder.synthetic._config import SyntheticConfig

_DATA: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)

WORDINGS = 4
"""Words of each concept, hence wordings of each subject."""

Words = tuple[str, ...]


def _concepts(kind: str) -> tuple[Words, ...]:
    return tuple(map(tuple, map(str.split, _DATA[kind].splitlines())))


def _words(kind: str) -> Words:
    """Return the words of a text, or the entries of a list."""
    value = _DATA[kind]
    return tuple(value.split() if isinstance(value, str) else value)


OBJECTS, ADJECTIVES, PROCESSES = map(_concepts, ("objects", "adjectives", "processes"))
FIELDS, GIVEN_NAMES, FAMILY_NAMES = map(_words, ("fields", "given_names", "family_names"))
VIRTUES, COSTS, QUALITIES = map(_words, ("virtues", "costs", "qualities"))
TITLES, OPENINGS, BEARINGS = map(_words, ("titles", "openings", "bearings"))
ASIDES, PATTERNS, ALIASES = map(_words, ("asides", "patterns", "aliases"))
SURVEY_TITLES, SURVEY_ABSTRACT = map(_words, ("survey_titles", "survey_abstract"))
STATEMENTS = _words("statements")
PROMPTS: dict[str, str] = _DATA["prompts"]
PARTS_OF_A_LEAF: str = _DATA["parts_of_a_leaf"]
HEADINGS: tuple[Words, ...] = tuple(map(tuple, _DATA["headings"]))

MADE_UP = "This paper is made up."
"""The last sentence of every abstract."""

_BODY_ONLY = ("Figure", "Next we", "For readers", "The second")
SUMMARY = tuple(["{0}" in p and not p.startswith(_BODY_ONLY) for p in PATTERNS])
"""Which of the patterns can stand in an abstract."""

KEPT_HEADINGS = {4: (0, 2, 3, 5), 5: (0, 1, 2, 3, 5), 6: (0, 1, 2, 3, 4, 5)}
"""Which of the headings a paper of 4, 5 or 6 sections has."""


IntArray = NDArray[np.int64]

_PAPERS_PER_SURVEY_SUBJECT = 130  # gives a survey in the later half 40 to 90 references
_LEAVES_PER_SURVEY_SUBJECT = 10
_PAPERS_PER_LEAF = (
    4  # at least, so that small synthetic corpora do not fall apart into single papers
)
_PURPOSE = 1


class SubjectTree:
    """Subjects at levels 0 (the field) to `depth` (the leaves), numbered from the top down.

    Subjects of one level are numbered so that those of one parent are consecutive; hence subjects
    with near numbers are neighbours in meaning. `first` and `size` are the first number and the
    number of subjects of each level; surveys treat those of `survey_level`. `leaf_weights`: how
    popular leaves are.
    """

    def __init__(self, config: SyntheticConfig) -> None:
        rng = config.rng(_PURPOSE)
        self.depth = config.depth
        self.survey_level = max(1, config.depth // 2)
        self.size = _level_sizes(config.papers, self.depth, self.survey_level)
        self.first = [sum(self.size[:level]) for level in range(self.depth + 1)]
        total = sum(self.size)
        kinds = (len(ADJECTIVES), len(OBJECTS), len(PROCESSES))
        # Survey subjects take the first combinations, which do not repeat in any synthetic corpus;
        # the leaves of a synthetic corpus of more than a million papers do.
        order = np.roll(np.arange(total), -self.first[self.survey_level])
        codes = np.empty(total, dtype=np.int64)
        codes[order] = np.resize(rng.permutation(int(np.prod(kinds))), total)
        self._concepts = np.stack(np.unravel_index(codes, kinds), axis=1)
        shift = rng.integers(1, len(OBJECTS), total)
        self._second_object = (self._concepts[:, 1] + shift) % len(OBJECTS)
        self._turns = rng.integers(0, WORDINGS, (total, 4))
        self._inherit()
        self._tell_apart(order)
        self.field = FIELDS[int(rng.integers(len(FIELDS)))]
        middle = self.size[self.survey_level]
        popular = np.repeat(rng.uniform(0.75, 1.25, middle), self.size[-1] // middle)
        self.leaf_weights = popular * rng.uniform(0.4, 1.6, self.size[-1])

    def _inherit(self) -> None:
        """Give subjects below those of surveys one concept of their parent: maps cohere.

        The first level takes the object in another word, so that a search for the survey's term
        does not find all that lies below; then process and object are handed on by turns.
        """
        for level in range(self.survey_level + 1, self.depth + 1):
            step = level - self.survey_level
            at = np.arange(self.size[level])
            child = at + self.first[level]
            parent = at * self.size[level - 1] // self.size[level] + self.first[level - 1]
            part = 1 if step % 2 else 2
            self._concepts[child, part] = self._concepts[parent, part]
            other = 1 + self._turns[child, part] % (WORDINGS - 1) if step == 1 else 0
            self._turns[child, part] = (self._turns[parent, part] + other) % WORDINGS

    def _tell_apart(self, order: IntArray) -> None:
        """Change the adjective of each subject that equals one before it in `order`."""
        kinds = (len(ADJECTIVES), len(OBJECTS), len(PROCESSES))
        for _ in ADJECTIVES:
            codes = np.ravel_multi_index(tuple(self._concepts[order].T), kinds)
            _, where = np.unique(codes, return_index=True)
            if len(where) == len(order):
                break
            again = np.delete(order, where)
            self._concepts[again, 0] = (self._concepts[again, 0] + 1) % len(ADJECTIVES)

    def ancestors(self, leaves: IntArray, level: int) -> IntArray:
        """Return the number of the subject at `level` above each leaf (counted from 0)."""
        at = leaves
        for lower in range(self.depth, level, -1):
            at = at * self.size[lower - 1] // self.size[lower]
        return at + self.first[level]

    def above(self, subject: int, level: int) -> int:
        """Return the number of the subject at `level` above a subject, or the subject itself."""
        start = self.level_of(subject)
        at = subject - self.first[start]
        for lower in range(start, level, -1):
            at = at * self.size[lower - 1] // self.size[lower]
        return at + self.first[min(start, level)]

    def parts(self, subject: int) -> list[int]:
        """Return the subjects one level below a subject."""
        lower = self.level_of(subject) + 1
        if lower > self.depth:
            return []
        below = range(self.first[lower], self.first[lower] + self.size[lower])
        at, size, total = subject - self.first[lower - 1], self.size[lower - 1], self.size[lower]
        return list(below[-(-at * total // size) : -(-(at + 1) * total // size)])

    def level_of(self, subject: int) -> int:
        """Return the level of a subject number."""
        return max(level for level in range(self.depth + 1) if self.first[level] <= subject)

    def neighbours(self, survey_subject: int) -> list[int]:
        """Return up to four other subjects of the survey level, the nearest first."""
        first, size = self.first[self.survey_level], self.size[self.survey_level]
        steps = (1, -1, 2, -2)[: size - 1]
        return [first + (survey_subject - first + step) % size for step in steps]

    def phrase(self, subject: int, wording: int = 0) -> str:
        """Return a subject's term in lower case; wording 0 is the canonical one."""
        if subject == 0:
            return self.field.lower()
        adjective, thing, process = self._concepts[subject].tolist()
        turn = ((self._turns[subject] + wording) % WORDINGS).tolist()
        adjective = ADJECTIVES[adjective][turn[0]]
        noun = OBJECTS[thing][turn[1]]
        process = PROCESSES[process][turn[2]]
        level = self.survey_level
        if self.first[level] <= subject < self.first[level] + self.size[level]:
            second = OBJECTS[int(self._second_object[subject])][turn[3]]
            return f"{noun} {process} in {adjective} {plural(second)}"
        return f"{adjective} {noun} {process}"

    def name(self, subject: int) -> str:
        """Return the canonical term as a heading."""
        return title_case(self.phrase(subject))


def title_case(phrase: str) -> str:
    """Return a phrase with capitals as in a title.

    >>> title_case("lattice tempering in braided membranes")
    'Lattice Tempering in Braided Membranes'
    """
    return phrase.title().replace(" In ", " in ")


def _level_sizes(papers: int, depth: int, survey_level: int) -> list[int]:
    """Return the number of subjects at each level; it never shrinks from one level to the next."""
    middle = max(2, round(papers / _PAPERS_PER_SURVEY_SUBJECT))
    fan = min(_LEAVES_PER_SURVEY_SUBJECT, max(1, papers // (middle * _PAPERS_PER_LEAF)))
    below = depth - survey_level
    above = [max(1, round(middle ** (level / survey_level))) for level in range(survey_level)]
    # Multiples, so that every survey subject has the same number of leaves, and papers in any
    # synthetic corpus.
    under = [middle * max(1, round(fan ** (step / below))) for step in range(1, below + 1)]
    return [*above, middle, *under]


Take = Callable[[], int]

DRAWS = 96
"""Random 32-bit numbers that one paper's text may use up."""

_SLOTS = 16  # a subject mentioned in a sentence is one of this many, levels in fixed proportion
_LEAF_SLOTS = 6  # at least
_MOST_DISTRACTOR_SLOTS = 9  # too few to outrank the papers most typical of the subject mentioned
_EMPHASIS = (0, 1, 1, 1, 2, 4, 7, 8)  # slots of the survey's subject, by typicality, at depth 3
_CORE_SHARE = 0.3  # of the papers, the most typical, say the survey's subject in title and abstract
_ALIAS_SHARE = 0.4  # of the papers give another wording of a subject they belong to
_ALIAS_OF_SURVEY_SUBJECT = 0.65  # of those, of the subject that surveys treat
_DISTRACTOR_IN_TITLE = 0.1
_ASIDE_ONE_IN = 3  # distractors mention their subject in the abstract


Text = dict[str, Any]
"""The written part of a paper record: ``title``, ``abstract``, ``sections``."""


class Writer:
    """Writes papers of one corpus; has the proportions in which subjects are mentioned."""

    def __init__(self, config: SyntheticConfig, tree: SubjectTree) -> None:
        self._tree = tree
        self._synonymy = config.synonymy
        self._distractors = config.distractors
        fading = min(1.0, _fading(tree))
        self._core = 1 - _CORE_SHARE * fading
        self._most_mentions = round(_MOST_DISTRACTOR_SLOTS * fading)
        self._proportions = [_proportions(tree, emphasis) for emphasis in _EMPHASIS]

    def paper(
        self, chain: list[int], typical: float, draws: list[int], shares: list[float]
    ) -> Text:
        """Write a paper about subjects, `chain`, from the field down to the leaf.

        It is `typical` in [0, 1) of the subject that surveys treat. There are `DRAWS` random 32-bit
        numbers and ``len(chain) + 4`` in [0, 1), `shares`.
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
        subject = phrases[tree.survey_level]
        near = tree.neighbours(chain[tree.survey_level])
        rival = tree.phrase(near[take() % len(near)])
        core = typical > self._core
        title = _title(phrases[-1], subject if core else phrases[-1], take())
        if is_distracting := distracts < self._distractors:
            mentions = 1 + take() % self._most_mentions
            body[:mentions] = [rival] * mentions
            if in_title < _DISTRACTOR_IN_TITLE and not core:
                title += f" Compared with {title_case(rival)}"
        patterns = _patterns(take())
        abstract = [_fill_from(OPENINGS, phrases[-1], take)]
        if core:
            abstract.append(_fill_from(BEARINGS, subject, take))
        for _ in range(2 + take() % 3):
            fit = next(k for k in patterns if SUMMARY[k])
            patterns.remove(fit)
            abstract.append(_fill(PATTERNS[fit], slots, take()))
        if is_distracting and not take() % _ASIDE_ONE_IN:
            abstract.append(_fill_from(ASIDES, rival, take))
        abstract.append(MADE_UP)
        sections = _sections(patterns, body, take)
        if alias < _ALIAS_SHARE:
            level = tree.survey_level if alias_level < _ALIAS_OF_SURVEY_SUBJECT else tree.depth
            other = 0 if wordings[level] else 1 + take() % (WORDINGS - 1)
            pattern = ALIASES[take() % len(ALIASES)]
            sentence = pattern.format(phrases[level], tree.phrase(chain[level], other))
            sections[0]["text"] += f" {sentence}"
        return {"title": title, "abstract": " ".join(abstract), "sections": sections}

    def survey(self, title: str, subject: int, draws: list[int]) -> Text:
        """Write a survey paper of `subject` with a section for each of up to four of its parts."""
        tree, take = self._tree, iter(draws).__next__
        patterns = _patterns(take())
        slots = [tree.phrase(subject)] * _SLOTS
        abstract = [_fill(pattern, slots, take()) for pattern in SURVEY_ABSTRACT]
        sections = [_section("Introduction", patterns, slots, 5, take)]
        for part in (tree.parts(subject) or [subject])[:4]:
            own = [tree.phrase(part)] * _SLOTS
            sections.append(_section(tree.name(part), patterns, own, 5, take))
        for heading in ("Comparison", "Open Problems", "Conclusion")[: max(1, 5 - len(sections))]:
            sections.append(_section(heading, patterns, slots, 5, take))
        return {"title": title, "abstract": " ".join([*abstract, MADE_UP]), "sections": sections}


def authors(draw: int) -> list[str]:
    """Return one to four made-up names, chosen by a random 32-bit number."""
    names = []
    for _ in range(1 + draw % 4):
        draw = draw * 1_103_515_245 + 12_345 & 0xFFFFFFFF
        first_name = GIVEN_NAMES[(draw >> 8) % len(GIVEN_NAMES)]
        names.append(f"{first_name} {FAMILY_NAMES[(draw >> 16) % len(FAMILY_NAMES)]}")
    return list(dict.fromkeys(names))


def _proportions(tree: SubjectTree, emphasis: int) -> list[int]:
    """Return the level that each slot mentions.

    The levels between the leaf and the survey's subject share what the leaf leaves over, so that
    the subject of a survey fades with its distance from the leaf.
    """
    between = list(range(tree.survey_level + 1, tree.depth))
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


def _fading(tree: SubjectTree) -> float:
    """Return how often papers mention a survey's subject, as a multiple of that at depth 3."""
    return 2 / max(1, tree.depth - tree.survey_level)


def _title(subject: str, other: str, draw: int) -> str:
    half = len(TITLES) // 2
    patterns = TITLES[:half] if other == subject else TITLES[half:]
    pattern = patterns[(draw & 255) % len(patterns)]
    virtue = VIRTUES[(draw >> 8 & 511) % len(VIRTUES)].title()
    quality = QUALITIES[(draw >> 17 & 511) % len(QUALITIES)]
    cost = COSTS[(draw >> 26) % len(COSTS)].title()
    return pattern.format(title_case(subject), title_case(other), virtue, quality, cost)


def _patterns(draw: int) -> list[int]:
    """Return the numbers of the patterns, a prime number of them, in an order of its own."""
    count = len(PATTERNS)
    start, step = draw >> 8, 1 + draw % (count - 1)
    return [(start + step * k) % count for k in range(count)]


def _fill(pattern: str, slots: list[str], draw: int) -> str:
    """Fill one pattern; the bits of `draw` choose the subject and the nouns."""
    virtue = VIRTUES[(draw >> 14 & 511) % len(VIRTUES)]
    cost = COSTS[(draw >> 23) % len(COSTS)]
    return pattern.format(slots[draw >> 10 & 15], virtue, cost)


def _fill_from(patterns: tuple[str, ...], subject: str, take: Take) -> str:
    return _fill(patterns[take() % len(patterns)], [subject] * _SLOTS, take())


def _section(
    heading: str, patterns: list[int], slots: list[str], sentences: int, take: Take
) -> dict[str, str]:
    text = " ".join([_fill(PATTERNS[patterns.pop()], slots, take()) for _ in range(sentences)])
    return {"heading": heading, "text": text}


def _sections(patterns: list[int], slots: list[str], take: Take) -> list[dict[str, str]]:
    kept = KEPT_HEADINGS[4 + take() % 3]
    # Short papers have longer sections; six sections have 36 sentences at most, an abstract 4.
    least = 4 + (len(kept) == 4)
    headings = (HEADINGS[k][take() % len(HEADINGS[k])] for k in kept)
    return [_section(name, patterns, slots, least + take() % 3, take) for name in headings]
