"""Cost: a price of searching and reading."""

from __future__ import annotations

from arena.rewards.base import REWARDS, Progress, Reward, number


@REWARDS.register("cost")
class Cost(Reward):
    """A price for each search, each read and each character of a result; never above 0.

    Args:
        per_search: Price of a search, in [0, 1000].
        per_read: Price of a call of `read`, `references` or `citations`, in [0, 1000].
        per_character: Price of a character of a result that shows papers, in [0, 1000].

    Raises:
        DataError: A price is out of its range.
    """

    def __init__(
        self, per_search: float = 0.01, per_read: float = 0.0, per_character: float = 1e-6
    ) -> None:
        self._per_search = number("per_search", per_search, 0, 1000)
        self._per_read = number("per_read", per_read, 0, 1000)
        self._per_character = number("per_character", per_character, 0, 1000)

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``cost.searches``, ``cost.reads`` and ``cost.characters``."""
        return {
            "cost.searches": 0.0 - self._per_search * progress.searches,
            "cost.reads": 0.0 - self._per_read * progress.reads,
            "cost.characters": 0.0 - self._per_character * progress.characters,
        }
