"""The texts of a world: titles, abstracts, sections, authors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from corpus_builder.world import _sentences as say
from corpus_builder.world._config import WorldConfig
from corpus_builder.world._lexicon import FAMILY_NAMES, GIVEN_NAMES, WORDINGS, words
from corpus_builder.world._topics import TopicTree, title_case

MADE_UP = "This paper is made up."
"""The last sentence of every abstract."""

VIRTUES = words("""
accuracy stability yield throughput precision robustness efficiency capacity quality sensitivity
consistency reliability contrast resolution symmetry balance selectivity durability safety
regularity repeatability coverage
""")
COSTS = words("""
cost variance latency uncertainty bias error complexity delay overhead waste noise effort
""")
QUALITIES = words("""
Robust Efficient Practical Adaptive Incremental Reliable Minimal General Local Global Unified
Careful Probabilistic Automatic Modular Scalable Economical Principled Direct Simple Bounded
Controlled Predictive Hierarchical
""")

# {0} and {1}: topics, {2}: a virtue, {3}: a quality, {4}: a cost. The first half name one topic.
TITLES = (
    "{3} {0}",
    "{3} {0} with Low {4}",
    "On the {2} of {0}",
    "{3} Methods for {0}",
    "The Role of {2} in {0}",
    "Measuring the {4} of {0}",
    "What Limits the {2} of {0}?",
    "Towards {3} {0}",
    "{3} {0} for {1}",
    "{0} and the {2} of {1}",
    "From {0} to {1}",
    "{3} {1} through {0}",
    "How {0} Shapes {1}",
    "The {2} of {0} under {1}",
    "{3} Models of {0} for {1}",
    "{1} Revisited: The Case of {0}",
)

OPENINGS = (
    "We study {0}, with an eye to its {1}.",
    "This paper concerns {0} and asks what limits its {1}.",
    "We present an account of {0} that improves {1} at no more {2}.",
    "The {2} of {0} has received little attention so far.",
    "We revisit {0} and find that its {1} was overestimated.",
)
"""The first sentence of an abstract names the paper's own topic."""

BEARINGS = (
    "This is one of the basic questions of {0}.",
    "The results bear on {0} as a whole.",
    "We see it as a test of what is known about {0}.",
    "Any theory of {0} has to account for this.",
    "Much of the work on {0} depends on the answer.",
)
"""In the abstract of a typical paper: what it means to the topic that surveys treat."""

ASIDES = (
    "We set it against {0}, a different problem.",
    "Unlike work on {0}, we make no use of {1}.",
    "A like argument is known from {0}.",
    "None of this carries over to {0}.",
    "We do not consider {0} here.",
)
"""In the abstract of a distractor: a passing mention of a topic that is not its own."""

PATTERNS = (
    "Recent interest in {0} stems from its {1}, but its {2} is poorly understood.",
    "All differences are significant unless we say otherwise.",
    "Our results show that {0} gains in {1} once the {2} is taken into account.",
    "A simple account of {0} explains most of the observed {2}.",
    "The proof is short and uses only elementary facts about {2}.",
    "The theory of {0} makes one assumption about {1} and another about {2}.",
    "We report the {1} and the {2} as means over ten runs.",
    "We made a large set of observations on {0} and report their {1}.",
    "Practitioners of {0} often accept more {2} for the sake of {1}.",
    "The procedure needs no knowledge of the {2} in advance.",
    "It remains open whether {0} can reach the same {1} without a rise in {2}.",
    "Table 1 lists the settings that gave the best {1}.",
    "In the case of {0}, the {1} depends on the {2} in a way that was not expected.",
    "Early work on {0} looked at {1} alone.",
    "We leave the question of {2} to future work.",
    "Next we turn to {0} and the part that {1} plays in it.",
    "We compare three forms of {0} under equal {2}.",
    "In practice the {1} matters more than the {2}.",
    "The effect of {0} on {1} was confirmed by independent groups.",
    "Without {0}, the {1} of the whole system falls below what users accept.",
    "Removing any one component lowers the {1} by a visible amount.",
    "The connection between {0} and {1} has been noted by several authors.",
    "The second experiment repeats the first with a stricter demand on {1}.",
    "A good model of {0} must respect both {1} and {2}.",
    "Figure 2 plots the {1} that we found for {0}.",
    "Our implementation is plain and makes no attempt at high {1}.",
    "Most of the gain comes from {0}, and the rest from lower {2}.",
    "Later studies extended the argument to {0} and obtained higher {1}.",
    "There is a clear relation between {1} and {2}.",
    "For readers new to {0}, we first recall what is meant by {1}.",
    "We are not aware of earlier results on the {1} of {0}.",
    "Details are given in the appendix.",
    "What holds for {0} need not hold for problems of lower {2}.",
    "The best known results on {0} were obtained at the expense of {1}.",
    "The {1} is harder to measure than it seems.",
    "A closer look at {0} reveals that {1} and {2} are not independent.",
    "Such a loss of {1} would be hard to explain otherwise.",
    "The same data were used to estimate the {1} and, where possible, the {2}.",
    "Two independent lines of evidence connect {0} with low {2}.",
    "No attempt was made to reduce the {2} any further.",
    "Whether {0} is worth the added {2} depends on the application.",
)
"""As many as the longest paper has sentences, a prime number: see `_prose`."""

_BODY_ONLY = ("Figure", "Next we", "For readers", "The second")
SUMMARY = tuple("{0}" in p and not p.startswith(_BODY_ONLY) for p in PATTERNS)
"""Which of the patterns can stand in an abstract."""

ALIASES = (
    "We treat {0}, also known as {1}.",
    "Some authors write {1} where we write {0}.",
    "The subject is {0}, which parts of the literature call {1}.",
    "Here {0} and {1} mean the same thing.",
)

HEADINGS = (
    ("Introduction", "Motivation", "Overview"),
    ("Background", "Related Work", "Preliminaries"),
    ("Approach", "Method", "Model"),
    ("Experiments", "Results", "Evaluation"),
    ("Discussion", "Limitations", "Analysis"),
    ("Conclusion", "Outlook", "Summary"),
)
KEPT_HEADINGS = {4: (0, 2, 3, 5), 5: (0, 1, 2, 3, 5), 6: (0, 1, 2, 3, 4, 5)}
"""Which of the headings a paper of 4, 5 or 6 sections has."""

SURVEY_TITLES = (
    "A Survey of {0}",
    "A Review of {0}",
    "Recent Advances in {0}",
    "{0}: A Survey",
    "{0}: A Comprehensive Review",
    "{0}: Progress and Open Problems",
    "An Overview of {0}",
    "Trends in {0}",
)
SURVEY_ABSTRACT = (
    "Work on {0} falls into several lines that we review in turn.",
    "Studies of {0} differ mainly in how they weigh {1} against {2}.",
    "We end with open questions about its {1}.",
)


Take = Callable[[], int]

DRAWS = 96
"""Random 32-bit numbers that one paper's text may use up."""

_SLOTS = 16  # a topic mentioned in a sentence is one of this many, levels in fixed proportion
_LEAF_SLOTS = 6  # at least
_MOST_DISTRACTOR_SLOTS = 9  # too few to outrank the papers most typical of the topic mentioned
_EMPHASIS = (0, 1, 1, 1, 2, 4, 7, 8)  # slots of the survey's topic, by typicality, at depth 3
_CORE_SHARE = 0.3  # of the papers, the most typical, say the survey's topic in title and abstract
_ALIAS_SHARE = 0.4  # of the papers tell another wording of a topic they belong to
_ALIAS_OF_SURVEY_TOPIC = 0.65  # of those, of the topic that surveys treat
_DISTRACTOR_IN_TITLE = 0.1
_ASIDE_ONE_IN = 3  # distractors mention their topic in the abstract


class Section(TypedDict):
    """One section of a full text."""

    heading: str
    text: str


class Text(TypedDict):
    """The written part of a paper record."""

    title: str
    abstract: str
    sections: list[Section]


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
        body = list(slots)  # distraction stays out of the abstract, but for one aside
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
            told = pattern.format(phrases[level], tree.phrase(chain[level], other))
            sections[0]["text"] += f" {told}"
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
        given = GIVEN_NAMES[(draw >> 8) % len(GIVEN_NAMES)]
        names.append(f"{given} {FAMILY_NAMES[(draw >> 16) % len(FAMILY_NAMES)]}")
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
) -> Section:
    text = " ".join([_fill(say.PATTERNS[patterns.pop()], slots, take()) for _ in range(sentences)])
    return {"heading": heading, "text": text}


def _sections(patterns: list[int], slots: list[str], take: Take) -> list[Section]:
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
