"""Reviewer: search until a page brings little that is wanted and new, and say what was reached."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from annotated_types import Interval

from arena.agents import Desk, Researcher, Steps, agent


@agent("reviewer")
class Reviewer(Researcher):
    """Search for the topic, then for wanted papers, until few new ones are wanted; no model.

    Each search is a vote for its hits, and papers with two votes are wanted. It searches for the
    topic, then for the title of the paper with most votes that was not searched for, and selects
    what is newly wanted. It stops when the last search brought fewer new wanted papers a hit than
    `rate`, a rule of thumb of screening (Callaghan and Müller-Hansen 2020, Systematic Reviews 9).
    The recall it believes in is the share of votes that were not a paper's only one: the chance
    that the next vote is for a known paper (Good 1953, Biometrika 40).

    Args:
        page: Hits of each search, 1 to 100.
        rate: Share of new wanted papers below which it stops, 0 to 1.
    """

    def __init__(
        self,
        seed: int = 0,
        page: Annotated[int, Interval(ge=1, le=100)] = 20,
        rate: Annotated[float, Interval(ge=0, le=1)] = 0.1,
    ) -> None:
        super().__init__(seed)
        self._page, self._rate = page, rate

    def discover(self, desk: Desk) -> Steps[None]:
        """Search while enough is new, and select it in pieces where the task takes them."""
        text, votes, searched = desk.topic, Counter[str](), list[str]()
        while desk.searches_left > 1:  # one step is for what a search brings
            hits = [hit.id for hit in (yield from desk.search(text, self._page))]
            votes.update(hits)
            new = [paper for paper in hits if votes[paper] == 2]
            desk.ranking += new
            if new and desk.submits == "select":
                yield from desk.select(new)
            if searched and len(new) < self._rate * len(hits):  # the first one has no rate
                break
            best = next((each for each, _ in votes.most_common() if each not in searched), None)
            if best is None:
                break
            searched.append(best)
            text = desk.papers[best].title
        total, once = votes.total(), list(votes.values()).count(1)
        desk.recall = 1 - once / total if total else None
