"""The ceiling: an agent that knows the labels. Kept apart from the baselines on purpose."""

from __future__ import annotations

from arena.agents import Action, Agent, Observation
from arena.tasks import MAX_SUBMITTED, Gold


class Oracle(Agent):
    """Submit the reachable references, the influential ones first."""

    def __init__(self, gold: Gold, seed: int = 0) -> None:
        super().__init__(seed)
        self._gold = gold

    def act(self, observation: Observation) -> Action:
        """Submit at once."""
        return {"tool": "submit", "arguments": {"paper_ids": ideal_ranking(self._gold)}}


def ideal_ranking(gold: Gold) -> list[str]:
    """Return the best possible submission: by gain, then in document order."""
    return sorted(gold.gains, key=lambda paper_id: -gold.gains[paper_id])[:MAX_SUBMITTED]
