"""Cost: a price of searching and reading."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from arena.rewards.base import Progress, Reward, reward

Price = Annotated[float, Interval(ge=0, le=1000)]


@reward("cost")
class Cost(Reward):
    """A price for each search, each read and each character of a result; never above 0.

    Args:
        per_search: Price of a search, in [0, 1000].
        per_read: Price of a call of `read`, `references` or `citations`, in [0, 1000].
        per_character: Price of a character of a result that shows papers, in [0, 1000].
    """

    def __init__(
        self, per_search: Price = 0.01, per_read: Price = 0.0, per_character: Price = 1e-6
    ) -> None:
        self._per_search, self._per_read, self._per_character = per_search, per_read, per_character

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``cost.searches``, ``cost.reads`` and ``cost.characters``."""
        return {
            "cost.searches": 0.0 - self._per_search * progress.searches,
            "cost.reads": 0.0 - self._per_read * progress.reads,
            "cost.characters": 0.0 - self._per_character * progress.characters,
        }
