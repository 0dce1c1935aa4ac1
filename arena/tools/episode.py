"""What tools act on: the state of one episode, without a label in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.corpus.view import CorpusView
from arena.errors import clip
from arena.papers import MAX_SUBMITTED, MAX_TITLE, Paper, Section
from arena.tools.base import TOOLS, BudgetError, ToolError

if TYPE_CHECKING:
    from arena.corpus.digests import ShownDigests
    from arena.mindmap import MindMap

SUBMIT_TOOLS = {"ranking": "submit", "mind_map": "organize"}
"""Kind of answer -> name of the tool that submits it."""

_SPENT = {
    "searches": "no searches are left, so the episode is over.",
    "reads": "no reads are left, so the episode is over.",
}


@dataclass
class Episode:
    """The state that tools act on. It holds no label: the environment scores.

    Attributes:
        view: The corpus as of the survey's date, searched by the environment's own engine.
        view_of: Name of an engine of the environment -> the same view, searched by that engine.
        stages: (name, kind of answer) of each stage; kinds are the keys of `SUBMIT_TOOLS`.
        instructions: Text that the agent reads at the start of each stage.
        budget: What is left of ``steps``, ``searches``, ``reads`` and ``characters``.
        selected: Ids kept for later, in the order in which they were selected.
        answers: Stage -> submitted answer.
        over: Whether the last stage was submitted or the agent finished.
        given: Ids of the papers that the episode began with.
        digests: What a model made of papers, if the environment shows that.
        digested: Id of each paper that was read -> whether its digest was shown.
    """

    view: CorpusView
    view_of: Callable[[str], CorpusView]
    stages: tuple[tuple[str, str], ...]
    instructions: tuple[str, ...]
    budget: dict[str, int]
    selected: dict[str, None] = field(default_factory=dict)
    answers: dict[str, list[str] | MindMap] = field(default_factory=dict)
    over: bool = False
    given: frozenset[str] = frozenset()
    digests: ShownDigests | None = None
    digested: dict[str, bool] = field(default_factory=dict)
    _at: int = 0

    @property
    def stage(self) -> str:
        """The name of the stage; after the end that of the last one."""
        return self.stages[self._at][0]

    def spend(self, what: str) -> None:
        """Take one off a budget.

        Raises:
            BudgetError: Nothing is left of it.
        """
        if self.budget[what] <= 0:
            raise BudgetError(_SPENT[what])
        self.budget[what] -= 1

    def papers(self, paper_ids: Sequence[str]) -> list[str]:
        """Return distinct ids in order, if they all exist here.

        Raises:
            ToolError: There are too many ids, or one does not exist.
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

    def abstract(self, paper: Paper) -> Section:
        """Return what this environment shows as the abstract of a paper of the view."""
        digests = self.digests
        if digests is None:
            return Section("Abstract", paper.abstract)
        digest = digests.text(paper.id)
        self.digested[paper.id] = bool(digest)
        if not digest:
            return Section("Abstract", paper.abstract)
        return Section(digests.heading, f"{paper.abstract}\n\n{digest}".strip())

    def listed(self, paper_ids: Sequence[str]) -> list[dict[str, str]]:
        """Return id, title and date of papers that exist here, as agents are shown them."""
        return [
            {"id": paper.id, "title": paper.title[:MAX_TITLE], "date": paper.date}
            for paper in self.view.briefs(paper_ids)
        ]

    def submit(self, kind: str, answer: list[str] | MindMap) -> dict[str, Any]:
        """Take the answer of this stage and begin the next one, or end the episode.

        Args:
            kind: Kind of the answer, a key of `SUBMIT_TOOLS`.
            answer: The answer.

        Returns:
            Name and instruction of the next stage; empty at the end.

        Raises:
            ToolError: This stage wants another kind of answer.
        """
        stage, wanted = self.stages[self._at]
        if kind != wanted:
            tool = TOOLS.get(SUBMIT_TOOLS[wanted]).usage()
            raise ToolError(f"this is the stage {stage}: submit with {tool}.")
        self.answers[stage] = answer
        if self._at + 1 == len(self.stages):
            self.over = True
            return {}
        self._at += 1
        return {"stage": self.stage, "message": self.instructions[self._at]}

    def finish(self) -> None:
        """End the episode; if this stage wants a ranking, submit the selected papers."""
        stage, wanted = self.stages[self._at]
        if wanted == "ranking":
            self.answers[stage] = list(self.selected)
        self.over = True
