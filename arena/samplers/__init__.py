"""Samplers: which topic an environment plays next.

A sampler is a plug-in; the setting `sampler` of an environment names it. It chooses among the
topics of the environment, hears how each episode ended, and changes nothing within an episode.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.plugins import Registry
from arena.tasks import TaskSet


class Drawn(NamedTuple):
    """A topic that may be drawn: its task set, and its id in it."""

    tasks: TaskSet
    topic_id: str


class Sampler(ABC):
    """Draws the topic of each episode of an environment; options are keyword arguments.

    Attributes:
        topics: The environment's id of each topic -> the topic; set by `open`.
        pool: These ids, in order.
        memory: All that draws depend on besides the generator, as a value of JSON. A copy of an
            environment takes it along.
    """

    memory: Any = None

    def open(self, topics: Mapping[str, Drawn]) -> None:
        """Take the topics to draw from, at least one; raise DataError if it cannot."""
        self.topics, self.pool = dict(topics), list(topics)

    def fork(self) -> Sampler:
        """Return the sampler of a fork, and after a seed: this one, so that all learn together."""
        return self

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> str:
        """Return the environment's id of the topic to play."""

    def ended(self, topic_id: str, score: float) -> None:  # noqa: B027 - some need no scores
        """Take in the headline of an episode that ended, in any thread; more is better."""


SAMPLERS: Registry[type[Sampler]] = Registry("sampler", packages=["arena.samplers"], base=Sampler)
sampler = SAMPLERS.register
"""Decorator of a subclass of `Sampler`: ``@sampler("name")``."""


@sampler("uniform")
class Uniform(Sampler):
    """Draws every topic as often as any other; the default.

    Args:
        epochs: Whether every topic is drawn once, in a new order, before one is drawn again. Each
            fork of an environment has epochs of its own.
    """

    def __init__(self, epochs: bool = False) -> None:
        self._epochs = epochs
        self.memory: list[str] = []  # ids that the epoch has left, last first

    def fork(self) -> Sampler:
        """Return one with an epoch of its own."""
        other = copy.copy(self)
        other.memory = []
        return other

    def draw(self, rng: np.random.Generator) -> str:
        """Return the id of any topic, or of the next one of the epoch."""
        if not self._epochs:
            return self.pool[int(rng.integers(len(self.pool)))]
        if not self.memory:
            self.memory = [self.pool[place] for place in rng.permutation(len(self.pool))]
        return self.memory.pop()
