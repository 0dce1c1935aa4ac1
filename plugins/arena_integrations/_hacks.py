"""Agents that want a reward and do no work."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.agents import Desk, Researcher, Steps
from arena.papers import MAX_QUERY, MAX_SUBMITTED
from arena.report.listing import listing

_HEADINGS = ("Introduction", "Methods", "Models", "Data", "Evaluation", "Applications", "Future")


def _empty(desk: Desk) -> Steps[None]:
    yield from ()


def _copy(desk: Desk) -> Steps[None]:
    """The content of the first observation: its ids, its text, its papers under one heading."""
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
"""The behaviour of each in every stage."""


class Hacker(Researcher):
    """Plays one of `HACKS`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.discover = self.select = self.organize = HACKS[name]  # type: ignore
