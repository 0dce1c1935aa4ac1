"""The hierarchy of topics and the four wordings of each topic's term."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus_builder.world._config import WorldConfig
from corpus_builder.world.language import ADJECTIVES, FIELDS, OBJECTS, PROCESSES, WORDINGS, plural

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
        self._inherit()
        self._tell_apart(order)
        self.field = FIELDS[int(rng.integers(len(FIELDS)))]
        middle = self.size[self.survey_level]
        popular = np.repeat(rng.uniform(0.75, 1.25, middle), self.size[-1] // middle)
        self.leaf_weights = popular * rng.uniform(0.4, 1.6, self.size[-1])

    def _inherit(self) -> None:
        """Give the topics below those of surveys one concept of their parent, so that maps cohere.

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
        """Change the adjective of each topic that equals one before it in `order`."""
        kinds = (len(ADJECTIVES), len(OBJECTS), len(PROCESSES))
        for _ in ADJECTIVES:
            codes = np.ravel_multi_index(tuple(self._concepts[order].T), kinds)
            _, where = np.unique(codes, return_index=True)
            if len(where) == len(order):
                break
            again = np.delete(order, where)
            self._concepts[again, 0] = (self._concepts[again, 0] + 1) % len(ADJECTIVES)

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
