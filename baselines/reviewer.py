"""Reviewer: search until a page brings little that is wanted and new, and say what was reached."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from annotated_types import Interval

from arena.agents import Desk, Researcher, Steps, agent


@agent("reviewer")
class Reviewer(Researcher):
    """Search for the topic, then for wanted papers, until few new ones are wanted; no model.

    Each search is a vote for its hits, and papers with two votes are wanted. It searches for the
    topic, then for the title of the paper with most votes that was not searched for, and selects
    what is newly wanted. It stops when the last searches brought fewer new wanted papers a hit than
    `rate`, a rule of thumb of screening (Callaghan and Müller-Hansen 2020, Systematic Reviews 9).
    The recall it believes in is the share of votes that were not a paper's only one: the chance
    that the next vote is for a known paper (Good 1953, Biometrika 40).

    Args:
        page: Hits of each search, 1 to 100.
        rate: Share of new wanted papers below which it stops, 0 to 1.
        patience: Searches in a row that the share is taken over, 1 to 100.
    """

    def __init__(
        self,
        seed: int = 0,
        page: Annotated[int, Interval(ge=1, le=100)] = 20,
        rate: Annotated[float, Interval(ge=0, le=1)] = 0.1,
        patience: Annotated[int, Interval(ge=1, le=100)] = 3,
    ) -> None:
        super().__init__(seed)
        self._page, self._rate, self._patience = page, rate, patience
        self._votes, self._searched = Counter[str](), list[str]()

    def discover(self, desk: Desk) -> Steps[None]:
        """Search while enough is new, and select it in pieces where the task takes them."""
        text, rates = desk.topic, list[float]()
        while desk.searches_left > 1:  # one step is for what a search brings
            hits = [hit.id for hit in (yield from desk.search(text, self._page))]
            self._votes.update(hits)
            new = [paper for paper in hits if self._votes[paper] == 2]
            desk.ranking += new
            if new and desk.submits == "select":
                yield from desk.select(new)
            rates.append(len(new) / len(hits) if hits else 0.0)
            last = rates[1:][-self._patience :]  # no paper has two votes after the first search
            if len(last) == self._patience and sum(last) / len(last) < self._rate:
                break
            waiting = [
                paper for paper, _ in self._votes.most_common() if paper not in self._searched
            ]
            if not waiting:
                break
            self._searched.append(waiting[0])
            text = desk.papers[waiting[0]].title
        total, once = self._votes.total(), list(self._votes.values()).count(1)
        desk.recall = 1 - once / total if total else None

    def notes(self) -> dict[str, Any]:
        """Return how many papers were searched for."""
        return {"searched": len(self._searched)}
