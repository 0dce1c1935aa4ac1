"""The object that tools act on: the state of one episode, without a label in it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from arena.corpus.view import CorpusView
from arena.errors import clip
from arena.papers import MAX_SUBMITTED, MAX_TITLE, Paper, Section
from arena.tools.base import BudgetError, Tool, ToolError

if TYPE_CHECKING:
    from arena.answers import Answer, AnswerKind
    from arena.corpus.digests import ShownDigests

_SPENT = {
    "searches": "no searches are left, so the episode is over.",
    "reads": "no reads are left, so the episode is over.",
}


class Stage(Protocol):
    """A stage as an episode knows it: its name, and the kind of its answer."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def answer(self) -> AnswerKind: ...  # noqa: D102


class _Section(NamedTuple):
    text: str
    cited: tuple[str, ...]


class Draft(dict[str, _Section]):
    """The sections of a report, in the order in which their headings were first written.

    The citations of a section are read when it is written; the rest of the draft is not read again.
    """

    def write(self, heading: str, text: str) -> None:
        """Add a section, or replace the one of this heading; remove it if `text` is blank."""
        from arena.report import cited_ids

        if text.strip():
            self[heading] = _Section(text.strip("\r\n"), tuple(cited_ids(text)))
        else:
            del self[heading]

    def save(self) -> list[Any]:
        """Return heading, text and cited ids of each section."""
        return [[heading, s.text, list(s.cited)] for heading, s in self.items()]

    @classmethod
    def restore(cls, saved: Sequence[Any]) -> Draft:
        """Return the draft of saved sections."""
        return cls({heading: _Section(text, tuple(ids)) for heading, text, ids in saved})

    def markdown(self) -> str:
        """Return the report: each heading as ``## HEADING``, then its text."""
        return "\n".join(f"## {heading}\n\n{s.text}\n" for heading, s in self.items())

    def cited(self) -> list[str]:
        """Return the distinct ids that the sections cite, in order."""
        return list(dict.fromkeys(i for s in self.values() for i in s.cited))


@dataclass
class Episode:
    """The state that tools act on. It has no label: the environment scores.

    Attributes:
        view: The corpus as of the topic's date, searched by the environment's own engine.
        view_of: Name of an engine of the environment -> the same view, searched by that engine.
        stages: The stages of the episode.
        tools: The tools that it offers, by name.
        instructions: Text that the agent reads at the start of each stage.
        budget: What is left of ``steps``, ``searches``, ``reads`` and ``characters``, and of
            ``written`` where a report is due.
        selected: Ids kept for later, in the order in which they were selected.
        draft: The sections of the report that were written.
        cited: Ids of the papers that the draft or the report cites or has cited.
        answers: Stage -> submitted answer.
        over: Whether the last stage was submitted or the agent finished.
        given: Ids of the papers that the episode began with.
        spent: How many ``searches`` and ``reads`` were made so far.
        digests: What a model made of papers, if the environment shows that.
        digested: Id of each paper that was read -> whether its digest was shown.
    """

    view: CorpusView
    view_of: Callable[[str], CorpusView]
    stages: Sequence[Stage]
    tools: Mapping[str, Tool]
    instructions: tuple[str, ...]
    budget: dict[str, int]
    selected: dict[str, None] = field(default_factory=dict)
    draft: Draft = field(default_factory=Draft)
    cited: dict[str, None] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    over: bool = False
    given: frozenset[str] = frozenset()
    digests: ShownDigests | None = None
    digested: dict[str, bool] = field(default_factory=dict)
    spent: Counter[str] = field(default_factory=Counter)
    _at: int = 0

    def save(self) -> dict[str, Any]:
        """Return all that changes in an episode, as values of JSON; no later change shows in it."""
        kinds = {stage.name: stage.answer for stage in self.stages}
        answers = {stage: kinds[stage].to_json(each) for stage, each in self.answers.items()}
        return {
            "budget": dict(self.budget),
            "selected": list(self.selected),
            "draft": self.draft.save(),
            "cited": list(self.cited),
            "answers": copy.deepcopy(answers),
            "over": self.over,
            "digested": dict(self.digested),
            "at": self._at,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from what `save` returned in an episode of the same topic and settings."""
        kinds = {stage.name: stage.answer for stage in self.stages}
        for name in ("searches", "reads"):
            self.spent[name] += self.budget[name] - saved["budget"][name]
        self.budget, self.digested = dict(saved["budget"]), dict(saved["digested"])
        self.selected = dict.fromkeys(saved["selected"])
        self.cited = dict.fromkeys(saved["cited"])
        self.draft = Draft.restore(saved["draft"])
        self.answers = {stage: kinds[stage].read(each) for stage, each in saved["answers"].items()}
        self.over, self._at = saved["over"], saved["at"]

    @property
    def stage(self) -> str:
        """The name of the stage; after the end that of the last one."""
        return self.stages[self._at].name

    def spend(self, what: str) -> None:
        """Take one off a budget."""
        if self.budget[what] <= 0:
            raise BudgetError(_SPENT[what], what)
        self.budget[what] -= 1
        self.spent[what] += 1

    def spend_written(self, characters: int) -> None:
        """Take the characters of a text off the budget ``written``."""
        left = self.budget.get("written", 0)
        if characters > left:
            raise ToolError(
                f"these are {characters} characters, and {left} may still be written. Write fewer, "
                "or submit what is written."
            )
        self.budget["written"] = left - characters

    def cite(self, paper_ids: Sequence[str]) -> dict[str, int]:
        """Note which papers are cited; return how many exist here, and how many ids are unknown.

        Whether an unknown id is that of a later paper, of a survey or of none makes no difference.
        """
        new = [i for i in paper_ids if i not in self.cited and i in self.view]
        self.cited.update(dict.fromkeys(new))
        known = sum(i in self.cited for i in paper_ids)
        return {"cited": known, "unknown": len(paper_ids) - known}

    def papers(self, paper_ids: Sequence[str]) -> list[str]:
        """Return distinct ids in order, if they all exist here."""
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

    def expect(self, kind: str) -> None:
        """Raise ToolError if this stage wants another kind of answer."""
        stage = self.stages[self._at]
        if kind != stage.answer.name:
            tool = self.tools[stage.answer.tool].usage()
            raise ToolError(f"this is the stage {stage.name}: submit with {tool}.")

    def submit(self, kind: str, answer: Answer) -> dict[str, Any]:
        """Take the answer of a stage; return name and instruction of the next, if any."""
        self.expect(kind)
        self.answers[self.stages[self._at].name] = answer
        if self._at + 1 == len(self.stages):
            self.over = True
            return {}
        self._at += 1
        return {"stage": self.stage, "message": self.instructions[self._at]}

    def finish(self, truncated: bool = False) -> int:
        """End the episode and submit what counts without a call; return the number of its parts.

        Those are the selected papers, or the sections of the draft.
        """
        stage = self.stages[self._at]
        self.over = not truncated
        if (left := stage.answer.implicit_answer(self, not truncated)) is None:
            return 0
        self.answers[stage.name], count = left
        return count
