"""The registry of metrics, apart from the package's front so that metric modules can import it."""

from __future__ import annotations

from typing import Protocol

from arena.encoders import Encoder
from arena.mindmap.tree import MindMap
from arena.registry import Registry


class MindMapMetric(Protocol):
    """A score of one mind-map against the survey's own."""

    def __call__(self, predicted: MindMap, gold: MindMap, encoder: str | Encoder) -> float:
        """Return the score.

        Args:
            predicted: The map that was made.
            gold: The survey's own; has at least one label below the root.
            encoder: What makes labels comparable: the name of a registered encoder, whose vectors
                are kept, or an encoder.
        """


MIND_MAP_METRICS: Registry[MindMapMetric] = Registry(
    "mind-map metric",
    packages=["arena.mindmap.metrics"],
    entry_points="researcharena.mind_map_metrics",
)
