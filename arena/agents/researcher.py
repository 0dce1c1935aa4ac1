"""Agents whose whole episode is one generator, and the desk on which it works."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from arena.agents.base import Action, Agent, Observation, result_of
from arena.errors import DataError, clip
from arena.papers import (
    LARGEST_HIT,
    LARGEST_READ,
    MAX_QUERIES,
    MAX_QUERY,
    MAX_SUBMITTED,
    PER_PAGE,
    Hit,
)

T = TypeVar("T")
Steps = Generator[Action, Observation, T]
"""Yields actions, is sent the observations after them, and returns a value."""

MOST_IDLE = 100_000
"""Most moves in a row that take no action; a loop of them would never end."""

LISTED = 100
"""Most papers of a ranking that a report lists, where the agent writes no report of its own."""


_log = logging.getLogger(__name__)


class _IdleError(BaseException):
    """Ends a stage; no ``except Exception`` in an agent's loop keeps it."""


_PAPER = ("id", "title", "date")  # what a result shows of a paper in a list


class KnownPaper(NamedTuple):
    """A paper as an agent knows it; the abstract is empty if it was not read."""

    id: str
    title: str = ""
    date: str = ""
    abstract: str = ""


class Desk:
    """An episode as its researcher sees it.

    The moves are generators that yield the actions to take: ``hits = yield from
    desk.search("graphs")``. A move that the budget does not allow, or that would spend the steps
    needed to submit, takes no action and returns an empty value.

    Attributes:
        observation: The last observation.
        result: Result of the last action.
        topic: The survey's title, lower-cased.
        cutoff: The cutoff: papers from this day on are not visible.
        stage: ``discovery``, ``selection``, ``organization`` or ``report``.
        budget: What is left of ``steps``, ``searches``, ``reads`` and ``characters``. Where a
            report is written, also of ``written``: the characters of the draft and the report.
        papers: Every paper shown so far, by id, in order of discovery.
        given: Ids of the papers that the episode began with.
        ranking: Ids to submit, best first; ids that are not in `papers` are left out.
        mind_map: The mind-map to submit: a `MindMap` or anything else that the tool ``organize``
            takes; None for none.
        report: The report to submit, Markdown that cites papers as ``[@id]``; None for the draft
            that was written, or a list of the ranking if there is none.
        drafted: Whether a section was written.
        recall: Recall that the ranking is believed to have, for a `finish` that asks for it.
        retrievers: Engines that a search may name, the default one first; empty if unknown.
    """

    def __init__(self, observation: Observation, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        self.papers: dict[str, KnownPaper] = {}
        self.ranking: list[str] = []
        self.mind_map: Any = None
        self.report: str | None = None
        self.drafted = False
        self.recall: float | None = None
        self._read: set[str] = set()
        self._functions = {tool["function"]["name"]: tool["function"] for tool in tools}
        search = self._functions.get("search", {})
        searching = search.get("parameters", {}).get("properties", {})
        self.retrievers: tuple[str, ...] = tuple(searching.get("retriever", {}).get("enum", ()))
        self._max_k: int | None = searching.get("k", {}).get("maximum")
        self.update(observation)
        self.given = [hit.id for hit in self._listed("references")]

    def update(self, observation: Observation) -> None:
        """Store an observation and the papers that it lists."""
        self.observation = observation
        self.result = result_of(observation)
        self.topic: str = observation["topic"]
        self.cutoff: str = observation["cutoff"]
        self.stage: str = observation["stage"]
        self.budget = {name: int(left) for name, left in observation["budget"].items()}
        self._idle = 0
        for paper in _shown(self.result):
            if paper["id"] not in self.papers:
                self.papers[paper["id"]] = KnownPaper(*(paper[key] for key in _PAPER))
        if {"sections", "unknown"} <= self.result.keys():  # of the tool `write`
            self.drafted = self.result["sections"] > 0

    @property
    def read_count(self) -> int:
        """Number of papers whose abstract was requested."""
        return len(self._read)

    @property
    def steps_left(self) -> int:
        """Number of steps that are left besides those needed to submit, one per stage."""
        ahead = 1
        if {"submit", "organize"} <= set(self._functions):  # the task pipeline has three stages
            ahead = {"discovery": 3, "selection": 2}.get(self.stage, 1)
        elif self.submits == "select":
            ahead = 2
        return max(0, self.budget["steps"] - ahead)

    @property
    def searches_left(self) -> int:
        """Number of searches that are left."""
        return min(self.budget["searches"], self.steps_left) if self.largest_k else 0

    @property
    def largest_k(self) -> int:
        """Largest `k` that a search may ask for, if every hit is as long as possible."""
        return self._largest_k(1)

    def _largest_k(self, lists: int) -> int:
        hits = self.budget["characters"] // (LARGEST_HIT * lists)
        return hits if self._max_k is None else min(hits, self._max_k)

    @property
    def reads_left(self) -> int:
        """Number of reads that are left, if every result is as long as possible."""
        pages = self.budget["characters"] // LARGEST_READ
        return min(self.budget["reads"], self.steps_left, pages)

    @property
    def lists_left(self) -> int:
        """Number of lists of references or citations that are left, if all are of full length."""
        lists = self.budget["characters"] // (PER_PAGE * LARGEST_HIT)
        return min(self.budget["reads"], self.steps_left, lists)

    def search(
        self, query: str, k: int = 100, offset: int = 0, retriever: str | None = None
    ) -> Steps[list[Hit]]:
        """Search; ask for fewer than `k` hits where the environment allows no more."""
        query = " ".join(query.split())[:MAX_QUERY]
        k = min(k, self.largest_k)
        if not query or not self.searches_left or k < 1:
            self._count_idle()
            return []
        asked = {"query": query, "k": k, "offset": offset or None, "retriever": retriever}
        arguments = {name: value for name, value in asked.items() if value is not None}
        yield {"tool": "search", "arguments": arguments}
        if "error" in self.result and self._max_k is None and k > 1 and self.searches_left:
            # k may be too large; the refused call cost a step and no search.
            fewer = {name: value for name, value in arguments.items() if name != "k"}
            yield {"tool": "search", "arguments": fewer}
        return self._listed("hits") or self._listed("papers")

    def search_together(
        self, queries: Iterable[str], k: int = 100, fuse: bool = True
    ) -> Steps[list[list[Hit]]]:
        """Search for up to 16 queries in one step; return one list, of their hits fused.

        Without `fuse` return a list for each query. The last queries are left out where fewer
        searches are left; lists are shorter than `k` where the environment allows no more.
        """
        asked = [" ".join(query.split())[:MAX_QUERY] for query in queries]
        asked = asked[: min(self.budget["searches"], MAX_QUERIES)]
        if len(asked) == 1:
            return [(yield from self.search(asked[0], k))]
        k = min(k, self._largest_k(1 if fuse else max(1, len(asked))))
        if not asked or not self.steps_left or k < 1:
            self._count_idle()
            return []
        yield {"tool": "search", "arguments": {"queries": asked, "k": k, "fuse": fuse}}
        lists = [self.result] if fuse else self.result.get("lists", ())
        return [_hits(each.get("hits", each.get("papers"))) for each in lists]

    def search_many(self, queries: Iterable[str], k: int = 100) -> Steps[list[list[Hit]]]:
        """Search for each query; return an empty list for each that the budget does not allow."""
        lists = []
        for query in queries:
            lists.append((yield from self.search(query, k)))
        return lists

    def read(self, paper_id: str) -> Steps[str]:
        """Return a paper's abstract; reading it again costs nothing."""
        if paper_id not in self._read and self.reads_left:
            self._read.add(paper_id)
            yield {"tool": "read", "arguments": {"paper_id": paper_id}}
            shown = self.result
            if "text" in shown:
                self.papers[paper_id] = KnownPaper(
                    paper_id, shown["title"], shown["date"], shown["text"]
                )
        else:
            self._count_idle()
        return self.papers[paper_id].abstract if paper_id in self.papers else ""

    def references(self, paper_id: str) -> Steps[list[Hit]]:
        """Return the first visible papers that `paper_id` cites."""
        return (yield from self._linked("references", paper_id))

    def citations(self, paper_id: str) -> Steps[list[Hit]]:
        """Return the first visible papers that cite `paper_id`."""
        return (yield from self._linked("citations", paper_id))

    def write(self, heading: str, text: str) -> Steps[dict[str, Any]]:
        """Write a section of the draft, or replace the one of this heading; return the result."""
        if not self.steps_left or len(heading) + len(text) > self.budget.get("written", 0):
            self._count_idle()
            return {}
        yield {"tool": "write", "arguments": {"heading": heading, "text": text}}
        return self.result

    @property
    def submits(self) -> str:
        """The tool that takes the ranking: ``select`` where `finish` asks for the recall."""
        finish = self._functions.get("finish", {}).get("parameters", {})
        return "select" if "recall" in finish.get("properties", {}) else "submit"

    def finish(self) -> Action:
        """Return the call of `finish`, with the recall where that asks for it."""
        asked = self.submits == "select" and self.recall is not None
        return {"tool": "finish", "arguments": {"recall": self.recall} if asked else {}}

    def select(self, paper_ids: Iterable[str]) -> Steps[dict[str, Any]]:
        """Keep papers for later, which `finish` submits; return the result."""
        return (yield from self.call("select", paper_ids=list(paper_ids)))

    def call(self, tool: str, /, **arguments: Any) -> Steps[dict[str, Any]]:
        """Call any tool, such as one of a plug-in, while steps are left; return its result.

        What else the tool spends, such as a read, is up to the caller: see `reads_left`.
        """
        if not self.steps_left:
            self._count_idle()
            return {}
        yield {"tool": tool, "arguments": arguments}
        return self.result

    def _linked(self, tool: str, paper_id: str) -> Steps[list[Hit]]:
        if not self.lists_left:
            self._count_idle()
            return []
        yield {"tool": tool, "arguments": {"paper_id": paper_id}}
        return self._listed(tool)

    def _count_idle(self) -> None:
        """End a stage that keeps asking for what the budget does not allow."""
        self._idle += 1
        if self._idle > MOST_IDLE:
            raise _IdleError

    def _listed(self, name: str) -> list[Hit]:
        return _hits(self.result.get(name))


def _shown(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the papers in the lists of a result, by any tool and under any name."""
    for each in part.values() if isinstance(part, dict) else part:
        if isinstance(part, list) and isinstance(each, dict) and each.keys() >= {*_PAPER}:
            yield each
        elif isinstance(each, dict | list):
            yield from _shown(each)


def _hits(entries: Any) -> list[Hit]:
    return [
        Hit(entry["id"], entry["title"], entry["date"], float(entry.get("score", 0.0)))
        for entry in (entries if isinstance(entries, list) else ())  # `read` gives a number
    ]


class Researcher(Agent):
    """An agent that is written as one generator per episode, in the order of its steps.

    A subclass defines `discover`, `organize` or both, as generators that act through the desk.
    When one ends, the ranking or the mind-map on the desk is submitted; docs/extending.md.

    In ``arena/Discovery-v0`` and ``arena/Selection-v0`` `discover` is called, in
    ``arena/Organization-v0`` `organize`, in ``arena/Pipeline-v0`` `discover`, `select` and
    `organize`, on one desk, and in ``arena/Report-v0`` `report`.
    """

    _desk: Desk | None = None
    _stage = ""
    _work: Steps[None] | None = None
    _submitted = ""

    def discover(self, desk: Desk) -> Steps[None]:
        """Find papers and rank them; here by searching for the topic."""
        hits = yield from desk.search(desk.topic)
        desk.ranking = [hit.id for hit in hits]

    def select(self, desk: Desk) -> Steps[None]:
        """Rank again, after a ranking was submitted; here nothing is changed."""
        yield from ()

    def organize(self, desk: Desk) -> Steps[None]:
        """Draw the mind-map; here none."""
        yield from ()

    def report(self, desk: Desk) -> Steps[None]:
        """Write the report; here find papers, which are then submitted as a list."""
        yield from self.discover(desk)

    def act(self, observation: Observation) -> Action:
        """Continue until the next action; submit at the end of a stage."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
        else:
            self._desk.update(observation)
        try:
            action = self._continue(self._desk, observation)
        except StopIteration:
            return self.conclude(observation)
        except _IdleError:
            _log.warning(
                "%s made %s moves in a row that its budget does not allow: what is on the desk is "
                "submitted. Look at desk.searches_left or desk.steps_left in a loop.",
                type(self).__name__, f"{MOST_IDLE:,}",
            )  # fmt: skip
            return self.conclude(observation)
        except (AttributeError, TypeError) as error:
            # What using the generator of a move, or its first action, as its result raises.
            if "generator" not in str(error) and "'dict' object" not in str(error):
                raise
            raise DataError(
                f"{type(self).__name__}: {error}. Is a `yield from` missing before a move? Write "
                "`hits = yield from desk.search(...)`."
            ) from error
        if isinstance(action, Generator):
            raise DataError(
                f"{type(self).__name__} yielded a move. Write `yield from`, not `yield`, before it."
            )
        return action

    def _continue(self, desk: Desk, observation: Observation) -> Action:
        """Return the next action of the stage; raise StopIteration at its end."""
        if self._stage == desk.stage:
            assert self._work is not None
            return self._work.send(observation)
        begins = self._work is None and desk.stage not in ("organization", "report")
        work = {
            "selection": self.select, "organization": self.organize, "report": self.report,
        }  # fmt: skip
        stage_work = self.discover if begins else work[desk.stage]
        self._stage = desk.stage
        self._work = stage_work(desk)
        if not isinstance(self._work, Generator):
            raise DataError(
                f"{type(self).__name__}.{stage_work.__name__} is not a generator. Act with "
                "`hits = yield from desk.search(...)`, or write `yield from ()`."
            )
        return next(self._work)

    def conclude(self, observation: Observation) -> Action:
        """Submit what is on the desk; `finish` if that was refused before."""
        desk, stage = self._desk, observation["stage"]
        again, self._submitted = self._submitted == stage, stage
        if again:
            return desk.finish() if desk else {"tool": "finish", "arguments": {}}
        if stage != "organization":
            wrong = [i for i in desk.ranking if not isinstance(i, str)] if desk else []
            if wrong:
                raise DataError(
                    f"desk.ranking contains {clip(wrong[0])}, which is not an id. Write "
                    "desk.ranking = [hit.id for hit in hits]."
                )
            # An id that was never shown may not exist, and then the whole ranking would be refused.
            known = [i for i in dict.fromkeys(desk.ranking) if i in desk.papers] if desk else []
            if stage == "report":
                return _report(desk, known) if desk else {"tool": "finish", "arguments": {}}
            tool = desk.submits if desk else "submit"
            return {"tool": tool, "arguments": {"paper_ids": known[:MAX_SUBMITTED]}}
        if desk is None or desk.mind_map is None:
            return {"tool": "finish", "arguments": {}}
        mind_map: Any = desk.mind_map
        if hasattr(mind_map, "to_json"):
            mind_map = mind_map.to_json()
        return {"tool": "organize", "arguments": {"mind_map": mind_map}}


def _report(desk: Desk, ranking: list[str]) -> Action:
    """Submit the report, or else the draft, or else a list of the first papers of the ranking."""
    from arena.report.listing import listing

    text = desk.report
    if text is None:
        if desk.drafted:
            return {"tool": "submit_report", "arguments": {}}
        text = listing(desk.topic, [desk.papers[i][:3] for i in ranking[:LISTED]])
    most = desk.budget.get("written", len(text))
    if len(text) > most:  # up to the end of the last line that the budget allows
        text = text[: text.rfind("\n", 0, most) + 1]
    return {"tool": "submit_report", "arguments": {"text": text}}
