"""Agents that want a reward and do no work, and the oracle that shows what it submits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.agents import Action, Desk, Observation, Researcher, Steps
from arena.papers import MAX_QUERY, MAX_SUBMITTED
from arena.report.listing import listing
from arena.runs.players import Oracle

_HEADINGS = ("Introduction", "Methods", "Models", "Data", "Evaluation", "Applications", "Future")


def _empty(desk: Desk) -> Steps[None]:
    yield from ()


def _copy(desk: Desk) -> Steps[None]:
    """What the first observation says: its ids, its text, its papers under one heading."""
    yield from ()
    desk.ranking, desk.report = desk.given, str(desk.observation)
    desk.mind_map = {"label": desk.topic, "papers": desk.given}


def _constant(desk: Desk, query: str = "an overview of") -> Steps[None]:
    """The same for every topic: the hits of one query, and common headings."""
    desk.ranking = [hit.id for hit in (yield from desk.search(query))]
    desk.mind_map = {"label": desk.topic, "children": [{"label": each} for each in _HEADINGS]}


def _long_query(desk: Desk) -> Steps[None]:
    """A search for the titles of all hits at once."""
    hits = yield from desk.search(desk.topic)
    words = " ".join([desk.topic, *(hit.title for hit in hits)])
    yield from _constant(desk, words[:MAX_QUERY])


def _everything(desk: Desk) -> Steps[None]:
    """A thousand hits, all submitted or cited; each given paper under a heading of its own."""
    for offset in range(0, MAX_SUBMITTED, 100):
        if not (yield from desk.search(desk.topic, offset=offset)):
            break
    desk.ranking = [*desk.papers][:MAX_SUBMITTED]
    desk.report = listing(desk.topic, [desk.papers[each][:3] for each in desk.ranking])
    parts = [{"label": desk.papers[each].title, "papers": [each]} for each in desk.given]
    desk.mind_map = {"label": desk.topic, "children": parts}


HACKS: Mapping[str, Callable[[Desk], Steps[None]]] = {
    "empty": _empty, "copy": _copy, "constant": _constant, "long query": _long_query,
    "everything": _everything,
}  # fmt: skip
"""What each does in every stage."""


class Hacker(Researcher):
    """Plays one of `HACKS`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.discover = self.select = self.organize = HACKS[name]  # type: ignore


class Knower(Oracle):
    """Searches for the topic, reads the labels, as far as the budget lasts, and submits them."""

    def __init__(self, answers: Mapping[str, Any], papers: Sequence[str]) -> None:
        super().__init__(answers)
        read: list[Any] = [{"tool": "read", "arguments": {"paper_id": paper}} for paper in papers]
        self._first = [{"tool": "search", "arguments": {"k": 100}}, *read]

    def act(self, observation: Observation) -> Action:
        """Return the next action."""
        budget = observation["budget"]
        if not self._first or budget["steps"] <= 5 or not budget["reads"]:
            return super().act(observation)
        if (action := self._first.pop(0))["tool"] == "search":
            action["arguments"]["query"] = observation["topic"]
        return dict(action)
