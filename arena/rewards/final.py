"""Final: the score of the submitted answers, at the end."""

from __future__ import annotations

from arena.rewards.base import Progress, Reward, reward


@reward("final")
class Final(Reward):
    """The task's headline metric with the step that ends the episode, else 0.

    0 for a topic that cannot be scored.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``final``."""
        return {"final": progress.score or 0.0}
