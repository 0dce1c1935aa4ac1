"""Scripted agents that search: those that demonstrate, and controls of a trained model.

All rank the papers that they were shown by the sum of reciprocal ranks over their searches.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.agents import Desk, Hit, Researcher, Steps

FEW, MANY = 10, 34
"""Hits that an expert asks for; three searches of `MANY` show 100 papers."""


def fused(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the ids of all lists, best first by the sum of 1 / (60 + rank); ties as they came."""
    scores: dict[str, float] = defaultdict(float)
    for ids in lists:
        for rank, paper_id in enumerate(ids, 1):
            scores[paper_id] += 1 / (60 + rank)
    return sorted(scores, key=lambda paper_id: -scores[paper_id])


def _rank(desk: Desk, lists: Iterable[Sequence[Hit]]) -> None:
    desk.ranking = fused([hit.id for hit in hits] for hits in lists)


class Reformulate(Researcher):
    """Searches for the topic, then for titles of the first two hits of its last search.

    How often (1 to `calls` times) and for how many hits it draws: it shows what can be done, and
    leaves what pays to reinforcement.
    """

    def __init__(self, seed: int = 0, calls: int = 3) -> None:
        super().__init__(seed)
        self._calls = calls

    def discover(self, desk: Desk) -> Steps[None]:
        """Search, each time for a text that was shown."""
        draw, query, lists = random.Random(self.seed), desk.topic, list[list[Hit]]()
        for _ in range(draw.randint(1, self._calls)):
            hits = yield from desk.search(query, draw.choice((FEW, MANY)))
            lists.append(hits)
            if not hits:
                break
            query = draw.choice(hits[:2]).title.lower()
        _rank(desk, lists)


class BriefScout(Researcher):
    """`scout` cut to five turns of five queries: the topic, then titles of the best papers."""

    def discover(self, desk: Desk) -> Steps[None]:
        """Search in turns; each result is one fused list."""
        asked: dict[str, None] = {desk.topic: None}
        queries, lists = [desk.topic], list[list[Hit]]()
        for _ in range(5):
            lists += yield from desk.search_together(queries, MANY)
            _rank(desk, lists)
            titles = [desk.papers[paper_id].title for paper_id in desk.ranking]
            queries = [title for title in titles if title not in asked][:5]
            asked |= dict.fromkeys(queries)
        _rank(desk, lists)


class Links(Researcher):
    """Searches for the topic, then lists the references of the first three hits."""

    def discover(self, desk: Desk) -> Steps[None]:
        """Search once, and follow references."""
        lists = [(yield from desk.search(desk.topic, MANY))]
        for hit in lists[0][:3]:
            lists.append((yield from desk.references(hit.id)))
        _rank(desk, lists)


class Constant(Researcher):
    """Asks the same of every survey: 100 hits for one query."""

    def __init__(self, seed: int = 0, query: str = "an overview of") -> None:
        super().__init__(seed)
        self._query = query

    def discover(self, desk: Desk) -> Steps[None]:
        """Search as often as 100 hits need."""
        for place in range(0, 100, MANY):
            hits = yield from desk.search(self._query, MANY, place)
            desk.ranking += [hit.id for hit in hits]


class Scripted(Researcher):
    """Searches as a file says, such as with the queries that a model had for another survey.

    Args:
        seed: Not used.
        calls: JSON file: topic -> arguments of its searches.
    """

    def __init__(self, seed: int = 0, calls: str = "") -> None:
        super().__init__(seed)
        self._calls = json.loads(Path(calls).read_text(encoding="utf-8"))

    def discover(self, desk: Desk) -> Steps[None]:
        """Search as the file says."""
        lists = []
        for call in self._calls[desk.topic]:
            for query in call.get("queries") or [call["query"]]:
                lists.append((yield from desk.search(query, call.get("k", FEW))))
        _rank(desk, lists)
