"""What lies before a researcher: papers met, budgets left, and moves that never overspend them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from arena.agents.base import Action, Observation, result_of

T = TypeVar("T")
Steps = Generator[Action, Observation, T]
"""Yields actions, is sent the observations after them, and returns a value."""

MAX_SUBMITTED = 1_000
"""Most ids that a ranking may have."""

_MAX_QUERY = 10_000
# More characters than a hit shows (a title of 500, where a character may take six in JSON), and
# than a `read` does (a page of 8,000, headings of 100 sections, 100 each). An action that shows
# more than is left would end the episode with nothing handed in.
_LARGEST_HIT = 4_000
_LARGEST_READ = 120_000
_LISTED = 100  # papers on a page of `references` and `citations`


class Hit(NamedTuple):
    """A paper in a list that a tool showed.

    Attributes:
        id: of the paper.
        title: cut at 500 characters.
        date: ``YYYY-MM-DD``.
        score: of the search engine; 0 in other lists.
    """

    id: str
    title: str
    date: str
    score: float = 0.0


class Known(NamedTuple):
    """A paper as far as it is known.

    Attributes:
        id: of the paper.
        title: cut at 500 characters.
        date: ``YYYY-MM-DD``.
        abstract: empty until it was read, or if there is none.
    """

    id: str
    title: str = ""
    date: str = ""
    abstract: str = ""


class Desk:
    """An episode as its researcher sees it.

    The moves are generators that yield the actions to take: ``hits = yield from
    desk.search("graphs")``. Where a budget does not allow a move, or what must be left to hand in
    would be spent, it returns empty and takes no action.

    Args:
        observation: the first one.
        tools: the environment's tools, see `Agent.tools`.

    Attributes:
        observation: the last one.
        result: what the last action gave.
        papers: every paper met, by id, in order of discovery.
        given: ids of the papers that the episode began with.
        ranking: ids to hand in where a ranking is due, best first; those of papers that were never
            met are left out.
        mind_map: what to hand in where a mind-map is due: a `MindMap` or anything else that the
            tool ``organize`` takes; None for nothing.
        retrievers: the engines that a search may name, the default one first; empty if unknown.
    """

    def __init__(self, observation: Observation, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        self.papers: dict[str, Known] = {}
        self.ranking: list[str] = []
        self.mind_map: Any = None
        self._read: set[str] = set()
        self._functions = {tool["function"]["name"]: tool["function"] for tool in tools}
        searching = self._parameters("search")
        self.retrievers: tuple[str, ...] = tuple(searching.get("retriever", {}).get("enum", ()))
        self._max_k: int | None = searching.get("k", {}).get("maximum")
        self.look(observation)
        self.given = [hit.id for hit in self._listed("references")]

    def look(self, observation: Observation) -> None:
        """Take in an observation and the papers that it lists."""
        self.observation = observation
        self.result = result_of(observation)
        for name in ("references", "hits", "citations"):
            for hit in self._listed(name):
                self.papers.setdefault(hit.id, Known(hit.id, hit.title, hit.date))

    @property
    def topic(self) -> str:
        """The survey's title, lower-cased."""
        return self.observation["topic"]  # type: ignore[no-any-return]

    @property
    def cutoff(self) -> str:
        """The first day out of reach."""
        return self.observation["cutoff"]  # type: ignore[no-any-return]

    @property
    def stage(self) -> str:
        """``discovery``, ``selection`` or ``organization``."""
        return self.observation["stage"]  # type: ignore[no-any-return]

    @property
    def budget(self) -> dict[str, int]:
        """What is left of ``steps``, ``searches``, ``reads`` and ``characters``."""
        return {name: int(left) for name, left in self.observation["budget"].items()}

    @property
    def read_count(self) -> int:
        """Of how many papers the abstract was asked for."""
        return len(self._read)

    @property
    def steps_left(self) -> int:
        """How many steps may still be taken before those that handing in takes, one a stage."""
        ahead = 1
        if {"submit", "organize"} <= set(self._functions):  # a survey, three stages
            ahead = {"discovery": 3, "selection": 2}.get(self.stage, 1)
        return max(0, self.budget["steps"] - ahead)

    @property
    def searches_left(self) -> int:
        """How many searches may still be made."""
        return min(self.budget["searches"], self.steps_left) if self.largest_k else 0

    @property
    def largest_k(self) -> int:
        """How many hits a search may ask for, each as long as it may be."""
        hits = self.budget["characters"] // _LARGEST_HIT
        return hits if self._max_k is None else min(hits, self._max_k)

    @property
    def reads_left(self) -> int:
        """How many abstracts may still be read, each as long as it may be."""
        pages = self.budget["characters"] // _LARGEST_READ
        return min(self.budget["reads"], self.steps_left, pages)

    @property
    def lists_left(self) -> int:
        """How many lists of references or citations may still be seen, each as long as may be."""
        lists = self.budget["characters"] // (_LISTED * _LARGEST_HIT)
        return min(self.budget["reads"], self.steps_left, lists)

    def search(
        self, query: str, k: int = 100, offset: int = 0, retriever: str | None = None
    ) -> Steps[list[Hit]]:
        """Search; fewer than `k` hits are asked for where the environment allows no more."""
        query = " ".join(query.split())[:_MAX_QUERY]
        k = min(k, self.largest_k)
        if not query or not self.searches_left or k < 1:
            return []
        arguments: dict[str, Any] = {"query": query, "k": k}
        if offset:
            arguments["offset"] = offset
        if retriever is not None:
            arguments["retriever"] = retriever
        yield {"tool": "search", "arguments": arguments}
        if "error" in self.result and self._max_k is None and k > 1 and self.searches_left:
            # Too large, perhaps; it cost a step and no search.
            fewer = {name: value for name, value in arguments.items() if name != "k"}
            yield {"tool": "search", "arguments": fewer}
        return self._listed("hits")

    def search_many(
        self, queries: Iterable[str], k: int = 100, retriever: str | None = None
    ) -> Steps[list[list[Hit]]]:
        """Search for each query; what the budget does not reach stays empty."""
        found = []
        for query in queries:
            found.append((yield from self.search(query, k, retriever=retriever)))
        return found

    def read(self, paper_id: str) -> Steps[str]:
        """Return a paper's abstract; one that was read before costs nothing."""
        if paper_id not in self._read and self.reads_left:
            self._read.add(paper_id)
            yield {"tool": "read", "arguments": {"paper_id": paper_id}}
            shown = self.result
            if "text" in shown:
                self.papers[paper_id] = Known(
                    paper_id, shown["title"], shown["date"], shown["text"]
                )
        return self.papers[paper_id].abstract if paper_id in self.papers else ""

    def references(self, paper_id: str) -> Steps[list[Hit]]:
        """Return the first papers that it cites, as far as they are within reach."""
        return (yield from self._linked("references", paper_id))

    def citations(self, paper_id: str) -> Steps[list[Hit]]:
        """Return the first papers within reach that cite it."""
        return (yield from self._linked("citations", paper_id))

    def _linked(self, tool: str, paper_id: str) -> Steps[list[Hit]]:
        if not self.lists_left:
            return []
        yield {"tool": tool, "arguments": {"paper_id": paper_id}}
        return self._listed(tool)

    def _listed(self, name: str) -> list[Hit]:
        entries = self.result.get(name)
        return [
            Hit(entry["id"], entry["title"], entry["date"], float(entry.get("score", 0.0)))
            for entry in (entries if isinstance(entries, list) else ())  # `read` gives a number
        ]

    def _parameters(self, tool: str) -> Mapping[str, Any]:
        return self._functions.get(tool, {}).get("parameters", {}).get("properties", {})  # type: ignore[no-any-return]
