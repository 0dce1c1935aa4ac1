"""What tools act on: the state of one episode, without a label in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.corpus.view import CorpusView
from arena.errors import clip
from arena.papers import MAX_SUBMITTED, MAX_TITLE
from arena.tools.base import BudgetError, ToolError

if TYPE_CHECKING:
    from arena.mindmap import MindMap

_SPENT = {
    "searches": "no searches are left, so the episode is over.",
    "reads": "no reads are left, so the episode is over.",
}


@dataclass
class Episode:
    """What an episode knows. It holds no label: scoring is the environment's part.

    Attributes:
        view: the corpus as of the survey's date, searched by the environment's own engine.
        view_of: the same view, searched by another engine of the environment.
        stages: what is to be handed in, stage by stage: (name, ``"ranking"`` or ``"mind_map"``).
        instructions: what the agent is told at the beginning of each stage.
        budget: what is left of ``steps``, ``searches``, ``reads`` and ``characters``.
        selected: ids kept for later, in the order in which they were selected.
        answers: stage -> what was handed in.
        over: whether the last stage was handed in or the agent finished.
    """

    view: CorpusView
    view_of: Callable[[str], CorpusView]
    stages: tuple[tuple[str, str], ...]
    instructions: tuple[str, ...]
    budget: dict[str, int]
    selected: dict[str, None] = field(default_factory=dict)
    answers: dict[str, list[str] | MindMap] = field(default_factory=dict)
    over: bool = False
    _at: int = 0

    @property
    def stage(self) -> str:
        """The name of the stage; after the end that of the last one."""
        return self.stages[self._at][0]

    def spend(self, what: str) -> None:
        """Take one off a budget.

        Raises:
            BudgetError: if nothing is left of it.
        """
        if self.budget[what] <= 0:
            raise BudgetError(_SPENT[what])
        self.budget[what] -= 1

    def papers(self, paper_ids: Sequence[str]) -> list[str]:
        """Return distinct ids in order, if they all exist here.

        Raises:
            ToolError: if there are too many or one does not exist.
        """
        distinct = list(dict.fromkeys(paper_ids))
        if len(distinct) > MAX_SUBMITTED:
            raise ToolError(f"{len(distinct)} ids are too many. Give at most {MAX_SUBMITTED}.")
        if unknown := [paper_id for paper_id in distinct if paper_id not in self.view]:
            raise ToolError(
                f"no paper {', '.join(clip(paper_id) for paper_id in unknown[:5])} here "
                f"({len(unknown)} of {len(distinct)} ids). Use ids that a search returned."
            )
        return distinct

    def listed(self, paper_ids: Sequence[str]) -> list[dict[str, str]]:
        """Return id, title and date of papers that exist here, as agents are shown them."""
        return [
            {"id": paper.id, "title": paper.title[:MAX_TITLE], "date": paper.date}
            for paper in self.view.briefs(paper_ids)
        ]

    def hand_in(self, kind: str, answer: list[str] | MindMap) -> dict[str, Any]:
        """Take the answer of this stage and begin the next one, or end the episode.

        Returns:
            What to tell the agent of the next stage; empty at the end.

        Raises:
            ToolError: if this stage wants another kind of answer.
        """
        stage, wanted = self.stages[self._at]
        if kind != wanted:
            tool = {"ranking": "submit(paper_ids)", "mind_map": "organize(mind_map)"}[wanted]
            raise ToolError(f"this is the stage {stage}: hand in with {tool}.")
        self.answers[stage] = answer
        if self._at + 1 == len(self.stages):
            self.over = True
            return {}
        self._at += 1
        return {"stage": self.stage, "message": self.instructions[self._at]}

    def finish(self) -> None:
        """End the episode; if this stage wants a ranking, what was selected is it."""
        stage, wanted = self.stages[self._at]
        if wanted == "ranking":
            self.answers[stage] = list(self.selected)
        self.over = True
