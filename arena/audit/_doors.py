"""The doors of a view, at any day and without any papers: wider than the surveys' own days."""

from __future__ import annotations

import calendar
import datetime as dt
import random
from collections.abc import Callable, Mapping
from typing import Any

from arena.audit._actions import Menu
from arena.audit._bm25 import Bm25
from arena.audit._comparing import Say, compare
from arena.audit._facts import NEVER, Facts, Paper, Reach
from arena.audit._hostile import twin_of, without
from arena.audit._ids import Ids
from arena.audit._report import Log
from arena.audit._results import Results
from arena.corpus import Corpus
from arena.corpus.view import CorpusView, search_batch
from arena.errors import UnknownPaperError

_WHOLE = 10**9  # titles are not cut in a view
_BY_ID = ("paper", "sections", "references", "citations", "citation_count")


class Doors:
    """Asks views of `corpus` for papers; arguments as of `Driver`."""

    def __init__(
        self,
        corpus: Corpus,
        facts: Facts,
        retrievers: tuple[str, ...],
        scorers: Mapping[str, Bm25],
        rng: random.Random,
        log: Log,
    ) -> None:
        self._corpus, self._facts, self._log, self._rng = corpus, facts, log, rng
        self._retrievers, self._scorers = retrievers, scorers
        dated = facts.days[facts.days < NEVER]
        self._days = dated if len(dated) else [dt.date(2000, 1, 1).toordinal()]

    def ask(self) -> None:
        """Open a view and try all that it has, once."""
        rng = self._rng
        reach, cutoff = self._reach()
        engine = rng.choice(self._retrievers)
        where = f"Corpus.at({cutoff!r}, exclude={sorted(reach.excluded)!r}, retriever={engine!r})"
        self._log.cutoffs.add(reach.cutoff)
        menu = Menu(self._facts, reach, None, (), self._retrievers, rng)
        results = Results(reach, self._scorers, engine, self._log)
        try:
            view = self._corpus.at(cutoff, exclude=list(reach.excluded), retriever=engine)
            self._size(view, reach, self._say(where, "len()"))
            self._search(view, menu, results, engine, where)
            for _ in range(3):
                self._by_id(view, reach, results, menu.ids, where)
        except Exception as error:
            self._log.add("crash", where, "", f"{type(error).__name__}: {error}")

    def _reach(self) -> tuple[Reach, Any]:
        """Return what exists before a random day, and how the day may be written."""
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

    def _say(self, where: str, action: str) -> Say:
        self._log.counts["asked of views"] += 1
        self._log.doors[action.partition("(")[0]] += 1
        return lambda check, what: self._log.add(check, where, action, what)

    def _size(self, view: CorpusView, reach: Reach, say: Say) -> None:
        told = {"len": len(view), "cutoff": view.cutoff}
        wanted = {"len": ("count", len(reach.numbers)), "cutoff": ("date", reach.cutoff)}
        compare(told, wanted, set(), say)

    def _search(
        self, view: CorpusView, menu: Menu, results: Results, engine: str, where: str
    ) -> None:
        query, k = menu.query(), self._rng.choice((1, 10, 100))
        say = self._say(where, f"search({query!r:.200}, {k})")
        hits = view.search(query, k)
        results.hits(query, k, 0, engine, hits, say, _WHOLE)
        # A batch of other cutoffs at once must not mix them up.
        other, cutoff = self._reach()
        theirs = self._corpus.at(cutoff, exclude=list(other.excluded), retriever=engine)
        say = self._say(where, f"search_batch({query!r:.200}, {k}) with one at {cutoff!r}")
        for reach_results, found in zip(
            (results, Results(other, self._scorers, engine, self._log)),
            search_batch([(view, query, k), (theirs, query, k)]),
            strict=True,
        ):
            reach_results.hits(query, k, 0, engine, found, say, _WHOLE)

    def _by_id(
        self, view: CorpusView, reach: Reach, results: Results, ids: Ids, where: str
    ) -> None:
        paper_id, name = ids.any(), self._rng.choice((*_BY_ID, "in"))
        paper, say = reach.paper(paper_id), self._say(where, f"{name}({paper_id!r})")
        if name == "in":
            if (paper_id in view) != (paper is not None):
                say(
                    "hidden paper" if paper is None else "missing paper",
                    f"{paper_id!r} in the view",
                )
            return
        ask: Callable[[str], Any] = getattr(view, name)
        try:
            answer = ask(paper_id)
        except UnknownPaperError as error:
            if paper is not None:
                say("missing paper", f"refused: {error}")
                return
            results.refused(paper_id, {"error": str(error)}, say)
            self._twin(ask, paper_id, str(error), say)
            return
        if paper is None:
            say("hidden paper", f"{paper_id!r} {reach.why_not(paper_id)}, and was answered")
            return
        self._log.counts["papers returned"] += 1
        compare({name: answer}, {name: _wanted(name, paper, reach)}, set(), say)
        self._log.counts["texts compared"] += name in ("paper", "sections")

    def _twin(self, ask: Callable[[str], Any], paper_id: str, said: str, say: Say) -> None:
        """Ask for an id that never was; nothing but the id may be different."""
        twin = twin_of(paper_id, self._facts.by_id, self._rng)
        if twin is None:
            return
        self._log.counts["twins compared"] += 1
        try:
            ask(twin)
        except UnknownPaperError as error:
            if without(str(error), twin) != without(said, paper_id):
                say(
                    "indistinguishable",
                    f"{said!r} for {paper_id!r}, but {str(error)!r} for {twin!r}",
                )
        else:
            say("hidden paper", f"{twin!r} is unknown, and was answered")


def _wanted(name: str, paper: Paper, reach: Reach) -> tuple[str, Any]:
    """Return the check and the value of one door of a view."""
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
