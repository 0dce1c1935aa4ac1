"""The ceiling: an agent that knows the labels. Kept apart from the baselines on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from arena.agents import Action, Agent, Observation

if TYPE_CHECKING:
    from arena.mindmap import MindMap


class Oracle(Agent):
    """Hand in the labels: the reachable references, the influential ones first, and the mind-map.

    Args:
        answers: stage -> the best answer; a stage without one is passed over with ``finish``.
        seed: has no effect.
    """

    def __init__(self, answers: Mapping[str, list[str] | MindMap], seed: int = 0) -> None:
        super().__init__(seed)
        self._answers = answers

    def act(self, observation: Observation) -> Action:
        """Hand in at once, stage by stage."""
        answer = self._answers.get(observation["stage"])
        if answer is None:
            return {"tool": "finish", "arguments": {}}
        if isinstance(answer, list):
            return {"tool": "submit", "arguments": {"paper_ids": answer}}
        return {"tool": "organize", "arguments": {"mind_map": _labels_alone(answer)}}


def _labels_alone(mind_map: MindMap) -> dict[str, object]:
    """Return the map without its papers: some of them may be out of reach, and none is scored."""
    plain = mind_map.to_json()
    nodes = [plain]
    while nodes:
        node = nodes.pop()
        node["papers"] = []
        nodes.extend(node["children"])
    return plain
