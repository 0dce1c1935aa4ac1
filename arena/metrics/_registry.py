"""The registry, apart from the package's front so that metric modules can import it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from arena.registry import Registry


class Metric(Protocol):
    """A score of one ranking against one query's gold."""

    def __call__(
        self, ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None
    ) -> float:
        """Return the score.

        Args:
            ranking: Distinct ids, best first. May be empty.
            gains: Gold id to integer gain (2 influential, 1 other). Ids with a gain below 1 and
                ids not in it are not relevant.
            k: How many of the first ids count, at least 1; None for all.
        """


METRICS: Registry[Metric] = Registry(
    "metric", packages=["arena.metrics"], entry_points="researcharena.metrics"
)
