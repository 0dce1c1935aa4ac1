"""Gain: what this step has found."""

from __future__ import annotations

from arena.rewards.base import REWARDS, Progress, Reward


@REWARDS.register("gain")
class Gain(Reward):
    """Gold papers shown for the first time in this step, over all gold papers in reach.

    In [0, 1]; over an episode it adds up to the recall of all that was shown. A paper is shown by
    a search, by `read`, or in a list of references or citations. What is handed in does not count.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``gain``; 0 where there is no gold."""
        new = progress.found - progress.found_before
        return {"gain": new / progress.gold if new else 0.0}
