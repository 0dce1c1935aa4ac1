"""A sampler of what went worst."""

import numpy as np

from arena.samplers import Sampler, sampler


@sampler("worst")
class Worst(Sampler):
    """Draws the topic with the lowest last score; one that was not played before any other."""

    def __init__(self) -> None:
        self.memory: dict[str, float] = {}

    def draw(self, rng: np.random.Generator) -> str:
        """Return the first topic with the lowest score."""
        return min(self.topics, key=lambda topic: self.memory.get(topic, -1.0))

    def ended(self, topic_id: str, score: float) -> None:
        """Keep the score."""
        self.memory[topic_id] = score
