"""Attacks on the methods of views, at any cutoff and without any papers."""

from __future__ import annotations

import calendar
import datetime as dt
import random
from collections.abc import Callable
from typing import Any

from arena.corpus import Corpus
from arena.corpus.view import CorpusView, search_batch
from arena.errors import UnknownPaperError
from arena.testing.actions import Attacker
from arena.testing.audited import Shared
from arena.testing.files import NEVER, Paper, Reach
from arena.testing.hostile import twin_of, without
from arena.testing.oracles import Papers, compare
from arena.testing.report import Reporter

_WHOLE = 10**9  # a view does not cut titles
_BY_ID = ("paper", "sections", "references", "citations", "citation_count")


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
        """Open a view at a random cutoff and call all its methods."""
        reach, cutoff = self._reach()
        engine = self._rng.choice(self._shared.retrievers)
        where = f"Corpus.at({cutoff!r}, exclude={sorted(reach.excluded)!r}, retriever={engine!r})"
        self._log.cutoffs.add(reach.cutoff)
        attacker = Attacker(reach, None, {}, frozenset(), self._rng)
        papers = self._papers(reach, engine)
        try:
            view = self._corpus.at(cutoff, exclude=list(reach.excluded), retriever=engine)
            report = self._reporter(where, "len()")
            answer = {"len": len(view), "cutoff": view.cutoff}
            size = ("count", len(reach.numbers))
            compare(answer, {"len": size, "cutoff": ("date", reach.cutoff)}, report)
            self._search(view, attacker.text(), papers, engine, where)
            for _ in range(3):
                self._by_id(view, papers, attacker.ids.any(), where)
        except Exception as error:
            self._log.add("crash", where, "", f"{type(error).__name__}: {error}")

    def _papers(self, reach: Reach, engine: str) -> Papers:
        return Papers(reach, self._shared.scorers, engine, self._log)

    def _reach(self) -> tuple[Reach, Any]:
        """Return what exists before a random day, and one way to write the day."""
        rng = self._rng
        day = int(rng.choice(self._days)) + rng.choice(
            (0, 0, 1, 1, -1, 400, rng.randint(-500, 500))
        )
        date = dt.date.fromordinal(max(dt.date(1000, 1, 1).toordinal(), day))
        written: Any = rng.choice((date, date.isoformat(), date.isoformat()))
        if rng.random() < 0.15:
            date, written = dt.date(date.year, 12, 31), str(date.year)
        elif rng.random() < 0.15:
            last = calendar.monthrange(date.year, date.month)[1]
            date, written = date.replace(day=last), date.isoformat()[:7]
        papers = self._facts.papers
        before = papers[: int((self._facts.days < date.toordinal()).sum())] or papers
        ids = [rng.choice(before).id for _ in range(3)] if papers else []
        named = [*ids, rng.choice(papers).id if papers else "", "nowhere", *self._facts.surveys]
        excluded = rng.sample(named[:6], rng.choice((0, 1, 2, 3)))
        return Reach(self._facts, date.isoformat(), date.toordinal(), frozenset(excluded)), written

    def _reporter(self, where: str, action: str) -> Reporter:
        self._log.counts["asked of views"] += 1
        self._log.doors[action.partition("(")[0]] += 1
        return lambda check, what: self._log.add(check, where, action, what)

    def _search(
        self, view: CorpusView, query: str, papers: Papers, engine: str, where: str
    ) -> None:
        k = self._rng.choice((1, 10, 100))
        request = {"query": query, "k": k}
        report = self._reporter(where, f"search({query!r:.200}, {k})")
        papers.hits(request, view.search(query, k), report, _WHOLE)
        # A batch of other cutoffs at once must not mix them up.
        other, cutoff = self._reach()
        theirs = self._corpus.at(cutoff, exclude=list(other.excluded), retriever=engine)
        report = self._reporter(where, f"search_batch({query!r:.200}, {k}) with one at {cutoff!r}")
        batch = search_batch([(view, query, k), (theirs, query, k)])
        for each, hits in zip((papers, self._papers(other, engine)), batch, strict=True):
            each.hits(request, hits, report, _WHOLE)

    def _by_id(self, view: CorpusView, papers: Papers, paper_id: str, where: str) -> None:
        reach, name = papers.reach, self._rng.choice((*_BY_ID, "in"))
        paper, report = reach.paper(paper_id), self._reporter(where, f"{name}({paper_id!r})")
        if name == "in":
            if (paper_id in view) != (paper is not None):
                check = "hidden paper" if paper is None else "missing paper"
                report(check, f"{paper_id!r} in the view")
            return
        ask: Callable[[str], Any] = getattr(view, name)
        try:
            answer = ask(paper_id)
        except UnknownPaperError as error:
            if paper is not None:
                report("missing paper", f"refused: {error}")
                return
            papers.refused(paper_id, {"error": str(error)}, report)
            self._twin(ask, paper_id, str(error), report)
            return
        if paper is None:
            report("hidden paper", f"{paper_id!r} {reach.why_not(paper_id)}, and was answered")
            return
        self._log.counts["papers returned"] += 1
        compare({name: answer}, {name: _expected(name, paper, reach)}, report)
        self._log.counts["texts compared"] += name in ("paper", "sections")

    def _twin(self, ask: Callable[[str], Any], paper_id: str, error: str, report: Reporter) -> None:
        """Ask for an id that no paper has; the error must differ in the id alone."""
        twin = twin_of(paper_id, self._facts.by_id, self._rng)
        if twin is None:
            return
        self._log.counts["twins compared"] += 1
        try:
            ask(twin)
        except UnknownPaperError as other:
            if without(str(other), twin) != without(error, paper_id):
                what = f"{error!r} for {paper_id!r}, but {str(other)!r} for {twin!r}"
                report("indistinguishable", what)
        else:
            report("hidden paper", f"{twin!r} is unknown, and was answered")


def _expected(name: str, paper: Paper, reach: Reach) -> tuple[str, Any]:
    """Return the leak and the expected answer of one method of a view."""
    if name == "paper":
        return "text", (
            paper.id, paper.title, paper.abstract, paper.date, paper.precision, paper.venue,
            paper.authors, paper.fields,
        )  # fmt: skip
    if name == "sections":
        return "text", reach.facts.sections.get(paper.number, [])
    if name == "references":
        return "list", [cited.id for cited in reach.references(paper)]
    if name == "citations":
        return "list", [citing.id for citing in reach.citations(paper)]
    return "count", len(reach.citations(paper))
