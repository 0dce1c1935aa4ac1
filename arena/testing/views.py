"""Attacks on the methods of views, at any cutoff and without any papers."""

from __future__ import annotations

import calendar
import datetime as dt
import random
from typing import Any

from arena.corpus import Corpus
from arena.corpus.view import CorpusView, search_batch
from arena.errors import UnknownPaperError
from arena.testing.actions import Attacker, twin_of, without_ids
from arena.testing.audited import Shared
from arena.testing.files import NEVER, Reach, StoredPaper
from arena.testing.oracles import Papers, compare
from arena.testing.report import Reporter

_BY_ID = ("paper", "sections", "references", "citations", "citation_count", "in")


class Views:
    """Asks views of a corpus for papers.

    Args:
        corpus: The corpus.
        shared: Files, scorers, engines and the log of the audit.
        rng: Source of randomness.
    """

    def __init__(self, corpus: Corpus, shared: Shared, rng: random.Random) -> None:
        self._corpus, self._shared, self._rng = corpus, shared, rng
        self._facts, self._log = shared.facts, shared.log
        dated = self._facts.days[self._facts.days < NEVER]
        self._days = dated if len(dated) else [dt.date(2000, 1, 1).toordinal()]

    def ask(self) -> None:
        """Open a view at a random cutoff and call all its methods, one search with another view."""
        rng, engine = self._rng, self._rng.choice(self._shared.retrievers)
        (reach, cutoff), (other, later) = self._reach(), self._reach()
        where = f"Corpus.at({cutoff!r}, exclude={sorted(reach.excluded)!r}, retriever={engine!r})"
        self._log.cutoffs.add(reach.cutoff)
        attacker = Attacker(reach, None, {}, frozenset(), rng)
        try:
            view, second = (
                self._corpus.at(written, exclude=list(each.excluded), retriever=engine)
                for written, each in ((cutoff, reach), (later, other))
            )
            answer = {"len": len(view), "cutoff": view.cutoff}
            expected = {"len": len(reach.numbers), "cutoff": reach.cutoff}
            compare(answer, expected, self._reporter(where, "len()"))
            query, k = attacker.text(), rng.choice((1, 10, 100))
            one = view.search(query, k)
            both = search_batch([(view, query, k), (second, query, k)])
            for name, each, hits in (
                (f"search({query!r:.200}, {k})", reach, one),
                (f"search_batch({query!r:.200}, {k}) with one at {later!r}", reach, both[0]),
                (f"search_batch({query!r:.200}, {k}) after one at {cutoff!r}", other, both[1]),
            ):
                found, report = [hit._asdict() for hit in hits], self._reporter(where, name)
                self._papers(each, engine).hits({"query": query, "k": k}, found, report)
            for _ in range(3):
                self._by_id(view, reach, attacker.paper_id(), where)
        except Exception as error:
            self._log.add("crash", where, "", f"{type(error).__name__}: {error}")

    def _reach(self) -> tuple[Reach, Any]:
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
        excluded = frozenset(rng.sample(named, min(len(named), rng.choice((0, 1, 2, 3)))))
        return Reach(self._facts, date.isoformat(), date.toordinal(), excluded), written

    def _reporter(self, where: str, action: str) -> Reporter:
        self._log.doors[action.partition("(")[0]] += 1
        return lambda check, what: self._log.add(check, where, action, what)

    def _papers(self, reach: Reach, engine: str) -> Papers:
        return Papers(reach, self._shared.scorers, engine, self._log)

    def _by_id(self, view: CorpusView, reach: Reach, paper_id: str, where: str) -> None:
        """Ask for an id and, if it is refused, for one that no paper has."""
        name, paper = self._rng.choice(_BY_ID), reach.paper(paper_id)
        report = self._reporter(where, f"{name}({paper_id!r})")
        if name == "in":
            if (paper_id in view) != (paper is not None):
                check = "hidden paper" if paper is None else "missing paper"
                report(check, f"{paper_id!r} in the view")
            return
        answer, refusal = _asked(view, name, paper_id)
        if paper is None:
            result = {name: answer} if refusal is None else {"error": refusal}
            self._papers(reach, "").refused(paper_id, result, report)
            twin = twin_of(paper_id, self._facts.by_id, self._rng)
            if twin is not None and refusal is not None:
                self._log.counts["twins compared"] += 1
                other = _asked(view, name, twin)[1]
                if without_ids(other, twin) != without_ids(refusal, paper_id):
                    what = f"{refusal!r} for {paper_id!r}, but {other!r} for {twin!r}"
                    report("indistinguishable", what)
        elif refusal is not None:
            report("missing paper", f"refused: {refusal}")
        else:
            self._log.counts["papers returned"] += 1
            self._log.counts["texts compared"] += name in ("paper", "sections")
            compare({name: answer}, {name: _expected(name, paper, reach)}, report)


def _asked(view: CorpusView, name: str, paper_id: str) -> tuple[Any, str | None]:
    """Return the answer of a method of a view, or the error of a refusal."""
    try:
        return getattr(view, name)(paper_id), None
    except UnknownPaperError as error:
        return None, str(error)


def _expected(name: str, paper: StoredPaper, reach: Reach) -> Any:
    """Return the expected answer of one method of a view."""
    if name == "paper":
        return (
            paper.id, paper.title, paper.abstract, paper.date, paper.precision, paper.venue,
            paper.authors, paper.fields,
        )  # fmt: skip
    if name == "sections":
        return reach.facts.sections.get(paper.number, [])
    if name == "citation_count":
        return len(reach.linked("citations", paper))
    return [end.id for end in reach.linked(name, paper)]
