"""Which ids to ask for: of papers in reach, of papers that are not, and of none."""

from __future__ import annotations

import random
from typing import Any

from arena.audit._facts import Facts, Paper, Reach, Survey
from arena.audit._hostile import junk_text, mutated


class Ids:
    """Draws ids.

    Args:
        facts: all papers.
        reach: those that exist.
        survey: its references are asked for often.
        rng: the source of chance.
    """

    def __init__(
        self, facts: Facts, reach: Reach, survey: Survey | None, rng: random.Random
    ) -> None:
        self._facts, self._reach, self._rng = facts, reach, rng
        self._gold = (
            [] if survey is None else [(r.id, r.status == "gold") for r in survey.references]
        )
        days = facts.days
        hidden = ~reach.mask & ~facts.survey
        pools = (
            hidden & (days > reach.day),
            hidden & (days == reach.day),
            hidden & (days > reach.day + 400_000),  # undated
            facts.survey,
        )
        self._pools = [pool.nonzero()[0] for pool in pools if pool.any()]
        self._excluded, self._surveys = sorted(reach.excluded), list(facts.surveys)

    def visible(self) -> str | None:
        """Return the id of a paper in reach, if there is one."""
        paper = self.paper(True)
        return paper.id if paper else None

    def paper(self, visible: bool) -> Paper | None:
        """Return a paper in reach, or any of those that are not."""
        pool = self._reach.numbers if visible else self._some_pool()
        return self._facts.papers[int(self._rng.choice(pool))] if len(pool) else None

    def hidden(self) -> str:
        """Return an id that should not be answered; the odd one may exist by chance."""
        rng = self._rng
        roll = rng.random()
        if roll < 0.55 and (paper := self.paper(False)) is not None:
            return paper.id
        if roll < 0.7 and (named := self._excluded if roll < 0.63 else self._surveys):
            return rng.choice(named)
        if roll < 0.78 and (gold := self.gold(False)):
            return rng.choice(gold)
        if roll < 0.95 and self._facts.papers:
            return mutated(rng.choice(self._facts.papers).id, rng)
        return junk_text(rng)

    def any(self) -> str:
        """Return an id, mostly of a paper in reach, often one that an oracle would take."""
        roll = self._rng.random()
        if roll < 0.25 and (gold := self.gold(True)):
            return self._rng.choice(gold)
        if roll < 0.7 and (paper_id := self.visible()) is not None:
            return paper_id
        return self.hidden()

    def gold(self, in_reach: bool) -> list[str]:
        """Return references of the survey that are gold, or those that are listed in vain."""
        return [paper_id for paper_id, gold in self._gold if gold == in_reach]

    def _some_pool(self) -> Any:
        return self._rng.choice(self._pools) if self._pools else ()
