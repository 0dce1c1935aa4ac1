"""The rewards ``gain``, ``final``, ``shaped`` and ``cost``."""

from __future__ import annotations

from arena.rewards.base import REWARDS, Progress, Reward, number


@REWARDS.register("gain")
class Gain(Reward):
    """Gold papers shown for the first time in this step, over all gold papers in reach.

    In [0, 1]; over an episode it adds up to the recall of all papers shown. A search, `read` and a
    list of references or citations show papers. Submitted papers do not count.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``gain``; 0 where there is no gold."""
        new = progress.found - progress.found_before
        return {"gain": new / progress.gold if new else 0.0}


@REWARDS.register("final")
class Final(Reward):
    """The task's headline metric with the step that ends the episode, else 0.

    In [0, 1]; 0 for a survey that cannot be scored.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``final``."""
        return {"final": progress.score or 0.0}


@REWARDS.register("shaped")
class Shaped(Reward):
    """The final score plus the discounted change of a potential.

    A step from s to s' pays ``final + discount * potential(s') - potential(s)`` (Ng, Harada and
    Russell 1999, Policy invariance under reward transformations, theorem 1). The potential is
    ``weight`` times the share of the gold papers that has been shown; at the end of an episode it
    is 0, which keeps the theorem true for episodes (Grzes 2017, Reward shaping in episodic
    reinforcement learning). The observation holds the budget, so a truncation is an end like any
    other. The discounted return is therefore that of ``final`` minus the potential of the first
    state, which is 0 unless the episode starts with references.

    Args:
        discount: Discount of the learner, in [0, 1].
        weight: Weight of the potential, in [0, 1000].

    Raises:
        DataError: An option is out of its range.
    """

    def __init__(self, discount: float = 1.0, weight: float = 1.0) -> None:
        self._discount = number("discount", discount, 0, 1)
        self._weight = number("weight", weight, 0, 1000)

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``shaped.final`` and ``shaped.potential``."""
        scale = self._weight / progress.gold if progress.gold else 0.0
        after = 0.0 if progress.over else self._discount * scale * progress.found
        return {
            "shaped.final": progress.score or 0.0,
            "shaped.potential": after - scale * progress.found_before,
        }


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
