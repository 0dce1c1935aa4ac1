"""The score of the submitted answers, at the end or shaped: with hints before it."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from arena.rewards.base import Progress, Reward, reward


@reward("final")
class Final(Reward):
    """The task's headline metric with the step that ends the episode, else 0.

    0 for a topic that cannot be scored.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``final``."""
        return {"final": progress.score or 0.0}


@reward("shaped")
class Shaped(Reward):
    """The final score plus the discounted change of a potential.

    A step from s to s' pays ``final + discount * potential(s') - potential(s)`` (Ng, Harada and
    Russell 1999, Policy invariance under reward transformations, theorem 1). The potential is
    ``weight`` times the share of the gold papers that has been shown; at the end of an episode it
    is 0, which keeps the theorem true for episodes (Grzes 2017, Reward shaping in episodic
    reinforcement learning). The observation has the budget, so a truncation is an end like any
    other. The discounted return is therefore that of ``final`` minus the potential of the first
    state, which is 0 unless the episode starts with references.

    Args:
        discount: Discount of the learner, in [0, 1].
        weight: Weight of the potential, in [0, 1000].
    """

    def __init__(
        self,
        discount: Annotated[float, Interval(ge=0, le=1)] = 1.0,
        weight: Annotated[float, Interval(ge=0, le=1000)] = 1.0,
    ) -> None:
        self._discount, self._weight = discount, weight

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``shaped.final`` and ``shaped.potential``."""
        scale = self._weight / progress.gold if progress.gold else 0.0
        after = 0.0 if progress.over else self._discount * scale * progress.found
        return {
            "shaped.final": progress.score or 0.0,
            "shaped.potential": after - scale * progress.found_before,
        }
