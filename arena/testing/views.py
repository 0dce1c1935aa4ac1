"""Attacks on the methods of views, at any cutoff and without any papers."""

from __future__ import annotations

import calendar
import datetime as dt
import random
from typing import Any

from arena.corpus import Corpus
from arena.corpus.view import search_batch
from arena.doors import SearchDoor
from arena.errors import UnknownPaperError
from arena.testing.attacks import Attacker
from arena.testing.audited import Shared, check_hits, compare
from arena.testing.files import NEVER
from arena.testing.reference import PlainView
from arena.testing.report import Reporter

_BY_ID = ("paper", "sections", "references", "citations", "citation_count", "in")


class Views:
    """Asks views of a corpus for papers, and compares the answers with those of the reference.

    With a door there are searches alone, and they go through it.
    """

    def __init__(
        self, corpus: Corpus, shared: Shared, rng: random.Random, door: type[SearchDoor] | None
    ) -> None:
        self._doors = {name: door(corpus, name) for name in shared.retrievers} if door else {}
        self._corpus, self._shared, self._rng = corpus, shared, rng
        self._facts, self._log = shared.facts, shared.log
        dated = self._facts.days[self._facts.days < NEVER]
        self._days = dated if len(dated) else [dt.date(2000, 1, 1).toordinal()]

    def ask(self) -> None:
        """Open a view at a random cutoff and call all its methods, one search with another view."""
        rng, engine = self._rng, self._rng.choice(self._shared.retrievers)
        (plain, cutoff), (other, later) = self._reference(engine), self._reference(engine)
        where = f"Corpus.at({cutoff!r}, exclude={sorted(plain.excluded)!r}, retriever={engine!r})"
        self._log.cutoffs.add(plain.cutoff)
        attacker = Attacker(plain, rng)
        try:
            if self._doors:
                texts = [attacker.text(), attacker.text()]
                for each, written in ((plain, cutoff), (other, later)):
                    self._search(self._doors[engine], each, str(written), texts, where)
                return
            view, second = (
                self._corpus.at(written, exclude=list(each.excluded), retriever=engine)
                for written, each in ((cutoff, plain), (later, other))
            )
            expected = {"len": len(plain), "cutoff": plain.cutoff}
            report = self._reporter(where, "len()")
            compare({"len": len(view), "cutoff": view.cutoff}, expected, report)
            query, k = attacker.text(), rng.choice((1, 10, 100))
            one = view.search(query, k)
            both = search_batch([(view, query, k), (second, query, k)])
            for name, each, hits in (
                (f"search({query!r:.200}, {k})", plain, one),
                (f"search_batch({query!r:.200}, {k}) with one at {later!r}", plain, both[0]),
                (f"search_batch({query!r:.200}, {k}) after one at {cutoff!r}", other, both[1]),
            ):
                found, report = [hit._asdict() for hit in hits], self._reporter(where, name)
                check_hits((each, query, k, 0), found, self._shared, report)
            for _ in range(3):
                name, paper_id = rng.choice(_BY_ID), attacker.paper_id()
                wanted, got = (_asked(each, name, paper_id) for each in (plain, view))
                compare(got, wanted, self._reporter(where, f"{name}({paper_id!r})"))
                if paper_id in plain:
                    self._log.counts["papers returned"] += 1
                    self._log.counts["texts compared"] += name in ("paper", "sections")
                else:
                    self._log.counts["ids refused"] += 1
                    self._log.refused[plain.why_not(paper_id)[0]] += 1
        except Exception as error:
            self._log.add("crash", where, "", f"{type(error).__name__}: {error}")

    def _search(
        self, door: SearchDoor, view: PlainView, before: str, queries: list[str], where: str
    ) -> None:
        """Search through a door, and check what its client reads."""
        k = self._rng.choice((1, 10, 100))
        found = door.search(before, sorted(view.excluded), queries, k)
        for query, hits in zip(queries, found, strict=True):
            report, rows = self._reporter(where, f"door({query!r:.200}, {k}) at {before}"), []
            for paper_id, text, score in hits:
                row = view.row(paper_id)
                rows.append({"id": paper_id, "title": "", "date": "", "score": score})
                if row is not None:
                    rows[-1] |= {"title": row.title, "date": row.date}
                    compare({"text": text}, {"text": f'"{row.title}"\n{row.abstract}'}, report)
            check_hits((view, query, k, 0), rows, self._shared, report)

    def _reference(self, engine: str) -> tuple[PlainView, Any]:
        """Return what exists before a random day, and one way to write the day."""
        rng, papers = self._rng, self._facts.papers
        near = rng.choice((0, 0, 1, 1, -1, 400, rng.randint(-500, 500)))
        day = int(rng.choice(self._days)) + near
        date = dt.date.fromordinal(max(dt.date(1000, 1, 1).toordinal(), day))
        written: Any = rng.choice((date, date.isoformat(), date.isoformat()))
        if rng.random() < 0.15:
            date, written = dt.date(date.year, 12, 31), str(date.year)
        elif rng.random() < 0.15:
            last = calendar.monthrange(date.year, date.month)[1]
            date, written = date.replace(day=last), date.isoformat()[:7]
        before = papers[: int((self._facts.days < date.toordinal()).sum())] or papers
        ids = [rng.choice(pool).id for pool in (before, before, before, papers) if pool]
        named = [*ids, "nowhere", *self._facts.surveys][:6]
        excluded = rng.sample(named, min(len(named), rng.choice((0, 1, 2, 3))))
        return PlainView(self._facts, date.isoformat(), excluded, engine), written

    def _reporter(self, where: str, action: str) -> Reporter:
        self._log.doors[action.partition("(")[0]] += 1
        return lambda check, what: self._log.add(check, where, action, what)


def _asked(view: Any, name: str, paper_id: str) -> dict[str, Any]:
    """Return the answer of a method of a view, or the error of a refusal."""
    if name == "in":
        return {name: True} if paper_id in view else {"error": f"no paper {paper_id!r} here"}
    try:
        return {name: getattr(view, name)(paper_id)}
    except UnknownPaperError as error:
        return {"error": str(error)}
