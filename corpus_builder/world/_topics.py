"""The hierarchy of topics and the four wordings of each topic's term."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus_builder.world._config import WorldConfig
from corpus_builder.world._lexicon import ADJECTIVES, FIELDS, OBJECTS, PROCESSES, WORDINGS, plural

IntArray = NDArray[np.int64]

_PAPERS_PER_SURVEY_TOPIC = 130  # gives a survey in the later half 40 to 90 references
_LEAVES_PER_SURVEY_TOPIC = 10
_PAPERS_PER_LEAF = 4  # at least, so that small worlds do not fall apart into single papers
_PURPOSE = 1


class TopicTree:
    """Topics at levels 0 (the field) to `depth` (the leaves), numbered from the top down.

    Topics of one level are numbered so that those of one parent are consecutive; hence topics with
    near numbers are neighbours in meaning.

    Attributes:
        depth: The level of the leaves.
        survey_level: The level of the topics that surveys treat.
        first: Number of the first topic of each level.
        size: Number of topics of each level.
        field: The name of the field.
        leaf_weights: How popular each leaf topic is.
    """

    def __init__(self, config: WorldConfig) -> None:
        rng = config.rng(_PURPOSE)
        self.depth = config.depth
        self.survey_level = max(1, config.depth // 2)
        self.size = _level_sizes(config.papers, self.depth, self.survey_level)
        self.first = [sum(self.size[:level]) for level in range(self.depth + 1)]
        total = sum(self.size)
        kinds = (len(ADJECTIVES), len(OBJECTS), len(PROCESSES))
        # Survey topics take the first combinations, which do not repeat in any world; the leaves of
        # a world of more than a million papers do.
        order = np.roll(np.arange(total), -self.first[self.survey_level])
        codes = np.empty(total, dtype=np.int64)
        codes[order] = np.resize(rng.permutation(int(np.prod(kinds))), total)
        self._concepts = np.stack(np.unravel_index(codes, kinds), axis=1)
        shift = rng.integers(1, len(OBJECTS), total)
        self._second_object = (self._concepts[:, 1] + shift) % len(OBJECTS)
        self._turns = rng.integers(0, WORDINGS, (total, 4))
        self.field = FIELDS[int(rng.integers(len(FIELDS)))]
        middle = self.size[self.survey_level]
        popular = np.repeat(rng.uniform(0.75, 1.25, middle), self.size[-1] // middle)
        self.leaf_weights = popular * rng.uniform(0.4, 1.6, self.size[-1])

    def ancestors(self, leaves: IntArray, level: int) -> IntArray:
        """Return the number of the topic at `level` above each leaf (counted from 0)."""
        at = leaves
        for lower in range(self.depth, level, -1):
            at = at * self.size[lower - 1] // self.size[lower]
        return at + self.first[level]

    def above(self, topic: int, level: int) -> int:
        """Return the number of the topic at `level` above a topic, or the topic itself."""
        start = self.level_of(topic)
        at = topic - self.first[start]
        for lower in range(start, level, -1):
            at = at * self.size[lower - 1] // self.size[lower]
        return at + self.first[min(start, level)]

    def parts(self, topic: int) -> list[int]:
        """Return the topics one level below a topic."""
        lower = self.level_of(topic) + 1
        if lower > self.depth:
            return []
        below = range(self.first[lower], self.first[lower] + self.size[lower])
        at, size, total = topic - self.first[lower - 1], self.size[lower - 1], self.size[lower]
        return list(below[-(-at * total // size) : -(-(at + 1) * total // size)])

    def level_of(self, topic: int) -> int:
        """Return the level of a topic number."""
        return max(level for level in range(self.depth + 1) if self.first[level] <= topic)

    def neighbours(self, survey_topic: int) -> list[int]:
        """Return up to four other topics of the survey level, the nearest first."""
        first, size = self.first[self.survey_level], self.size[self.survey_level]
        steps = (1, -1, 2, -2)[: size - 1]
        return [first + (survey_topic - first + step) % size for step in steps]

    def phrase(self, topic: int, wording: int = 0) -> str:
        """Return a topic's term in lower case; wording 0 is the canonical one."""
        if topic == 0:
            return self.field.lower()
        adjective, thing, process = self._concepts[topic].tolist()
        turn = ((self._turns[topic] + wording) % WORDINGS).tolist()
        adjective = ADJECTIVES[adjective][turn[0]]
        noun = OBJECTS[thing][turn[1]]
        process = PROCESSES[process][turn[2]]
        level = self.survey_level
        if self.first[level] <= topic < self.first[level] + self.size[level]:
            second = OBJECTS[int(self._second_object[topic])][turn[3]]
            return f"{noun} {process} in {adjective} {plural(second)}"
        return f"{adjective} {noun} {process}"

    def name(self, topic: int) -> str:
        """Return the canonical term as a heading."""
        return title_case(self.phrase(topic))


def title_case(phrase: str) -> str:
    """Return a phrase with capitals as in a title.

    >>> title_case("lattice tempering in braided membranes")
    'Lattice Tempering in Braided Membranes'
    """
    return phrase.title().replace(" In ", " in ")


def _level_sizes(papers: int, depth: int, survey_level: int) -> list[int]:
    """Return the number of topics at each level; it never shrinks from one level to the next."""
    middle = max(2, round(papers / _PAPERS_PER_SURVEY_TOPIC))
    fan = min(_LEAVES_PER_SURVEY_TOPIC, max(1, papers // (middle * _PAPERS_PER_LEAF)))
    below = depth - survey_level
    above = [max(1, round(middle ** (level / survey_level))) for level in range(survey_level)]
    # Multiples, so that every survey topic has the same number of leaves, and papers in any world.
    under = [middle * max(1, round(fan ** (step / below))) for step in range(1, below + 1)]
    return [*above, middle, *under]
