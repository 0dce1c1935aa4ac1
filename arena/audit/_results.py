"""What a tool showed, against what the files say it should have shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.audit._actions import Call
from arena.audit._bm25 import Bm25, wrong_scores
from arena.audit._comparing import Say, compare, keys, only_error
from arena.audit._facts import Paper, Reach, title_key
from arena.audit._report import Log

# As docs/environments.md has them.
TITLE, HEADING, HEADINGS, PAGE, PER_PAGE = 500, 100, 100, 8_000, 100


class Results:
    """Checks results of the tools that show papers.

    Args:
        reach: what exists.
        scorers: of the engines that are BM25, by the name of the index.
        engine: the one that searches unless a call names another.
        log: counts what was compared.
    """

    def __init__(self, reach: Reach, scorers: Mapping[str, Bm25], engine: str, log: Log) -> None:
        self._reach, self._scorers, self._engine, self._log = reach, scorers, engine, log

    def check(self, call: Call, result: Mapping[str, Any], cut: bool, say: Say) -> None:
        """Check the result of ``search``, ``read``, ``references`` or ``citations``.

        Args:
            call: well-formed.
            result: what was shown.
            cut: whether the episode was truncated, so that a refusal may be one of a budget.
            say: takes findings.
        """
        if call.tool == "search":
            if "error" in result:
                self._refusal(result, cut, say)
            else:
                self._search(call.arguments, result, say)
            return
        paper = self._reach.paper(call.arguments["paper_id"])
        if paper is None:
            self.refused(call.arguments["paper_id"], result, say)
        elif call.tool == "read":
            self._read(paper, call.arguments, result, cut, say)
        else:
            self._links(call.tool, paper, call.arguments, result, cut, say)

    def refused(self, paper_id: str, result: Mapping[str, Any], say: Say) -> None:
        """Check that a call with the id of what does not exist got an error and nothing else."""
        self._log.counts["ids refused"] += 1
        self._log.refused[_kind(self._reach, paper_id)] += 1
        if "error" not in result:
            say("hidden paper", f"{paper_id!r} {self._reach.why_not(paper_id)}, and was answered")
        only_error(result, say)

    def _refusal(self, result: Mapping[str, Any], cut: bool, say: Say) -> None:
        only_error(result, say)
        if not cut:
            say("missing paper", f"refused: {result['error']}")

    def _search(self, given: Mapping[str, Any], result: Mapping[str, Any], say: Say) -> None:
        hits = result.get("hits")
        if not isinstance(hits, list):
            say("result", f"hits={hits!r}")
            return
        keys(result, {"hits"} if hits else {"hits", "message"}, "the result", say)
        for hit in hits:
            keys(hit, {"id", "title", "date", "score"}, "a hit", say)
        shown = [(h.get("id"), h.get("title"), h.get("date"), h.get("score")) for h in hits]
        engine = given.get("retriever") or self._engine
        self.hits(given["query"], given.get("k", 10), given.get("offset", 0), engine, shown, say)

    def hits(
        self,
        query: str,
        k: int,
        offset: int,
        engine: str,
        hits: Sequence[tuple[Any, Any, Any, Any]],
        say: Say,
        cut_at: int = TITLE,
    ) -> None:
        """Check (id, title, date, score) of a search."""
        found = [
            self.shown(paper_id, title, date, say, cut_at) for paper_id, title, date, _ in hits
        ]
        papers = [paper for paper in found if paper is not None]
        scores = [score for *_, score in hits]
        if len(papers) < len(hits):
            return
        if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
            say("order of hits", f"scores {scores!r}")
            return
        order = [(-score, paper.number) for score, paper in zip(scores, papers, strict=True)]
        if order != sorted(order) or len({p.number for p in papers}) < len(hits) or len(hits) > k:
            say("order of hits", f"{len(hits)} hits for k={k}: {order[:5]!r} ...")
        if (scorer := self._scorers.get(engine)) is not None:
            wanted = scorer.scores(query, self._reach)
            wrong = wrong_scores(wanted, [p.number for p in papers], scores, offset, k)
            self._log.counts["rankings computed again"] += 1
            self._log.counts["scores compared"] += len(scores)
            if wrong:
                say("score", wrong)

    def shown(
        self, paper_id: Any, title: Any, date: Any, say: Say, cut_at: int = TITLE
    ) -> Paper | None:
        """Check a paper that was shown by id, title and date; return it if it exists."""
        self._log.counts["papers returned"] += 1
        heading(title, self._reach, say)
        paper = self._reach.paper(paper_id)
        if paper is None:
            say("hidden paper", f"{paper_id!r} {self._reach.why_not(paper_id)}, and was shown")
            return None
        if title != paper.title[:cut_at]:
            say("title", f"{paper_id!r} is called {title!r}, and in the file {paper.title!r}")
        if date != paper.date:
            say("date", f"{paper_id!r} is dated {date!r}, and in the file {paper.date}")
        return paper

    def _read(
        self, paper: Paper, given: Mapping[str, Any], result: Mapping[str, Any], cut: bool, say: Say
    ) -> None:
        parts = [("Abstract", paper.abstract), *self._reach.facts.sections.get(paper.number, ())]
        section, page = given.get("section", 0), given.get("page", 1)
        if section >= len(parts):
            self._beyond(result, len(parts) - 1, cut, say)
            return
        title, text = parts[section]
        pages = max(1, math.ceil(len(text) / PAGE))
        if page > pages:
            self._beyond(result, pages, cut, say)
            return
        if "error" in result:
            self._refusal(result, cut, say)
            return
        self.shown(result.get("id"), result.get("title"), result.get("date"), say)
        heading(result.get("heading"), self._reach, say)
        for name in result.get("sections") or ():
            heading(name, self._reach, say)
        wanted = {
            "text": ("text", text[(page - 1) * PAGE : page * PAGE]),
            "heading": ("text", title[:TITLE]),
            "sections": ("list", [name[:HEADING] for name, _ in parts[:HEADINGS]]),
            "citations": ("count", len(self._reach.citations(paper))),
            "characters": ("count", len(text)),
            "page": ("count", page),
            "pages": ("count", pages),
            "section": ("count", section),
            "id": ("hidden paper", paper.id),
        }
        self._log.counts["texts compared"] += 1
        compare(result, wanted, {"title", "date"}, say)

    def _links(
        self,
        tool: str,
        paper: Paper,
        given: Mapping[str, Any],
        result: Mapping[str, Any],
        cut: bool,
        say: Say,
    ) -> None:
        ends = (
            self._reach.references(paper) if tool == "references" else self._reach.citations(paper)
        )
        page, pages = given.get("page", 1), max(1, math.ceil(len(ends) / PER_PAGE))
        if page > pages:
            self._beyond(result, pages, cut, say)
            return
        if "error" in result:
            self._refusal(result, cut, say)
            return
        listed = result.get(tool)
        for item in listed if isinstance(listed, list) else ():
            keys(item, {"id", "title", "date"}, "a listed paper", say)
            self.shown(item.get("id"), item.get("title"), item.get("date"), say)
        here = ends[(page - 1) * PER_PAGE : page * PER_PAGE]
        plain = [{"id": p.id, "title": p.title[:TITLE], "date": p.date} for p in here]
        wanted = {
            "id": ("hidden paper", paper.id),
            "total": ("count", len(ends)),
            "page": ("count", page),
            "pages": ("count", pages),
            tool: ("list", plain),
        }
        compare(result, wanted, set(), say)

    def _beyond(self, result: Mapping[str, Any], last: int, cut: bool, say: Say) -> None:
        """Check the refusal of a page or section that is not there: it says how many are."""
        if "error" not in result:
            say("error", "a page or section that is not there was answered")
            return
        only_error(result, say)
        numbers = re.findall(r"\d+", str(result["error"]))
        if not cut and (not numbers or int(numbers[-1]) != last):
            say("count", f"the last one is {last}, and not as told: {result['error']}")


def heading(text: Any, reach: Reach, say: Say) -> None:
    """Check that a title or heading is not that of a survey, however it is written."""
    if isinstance(text, str) and (name := reach.facts.title_keys.get(title_key(text))):
        say("survey title", f"{text!r} is the title of the survey {name!r}")


def _kind(reach: Reach, paper_id: str) -> str:
    paper = reach.facts.by_id.get(paper_id)
    if paper is None:
        return "survey task" if paper_id in reach.facts.surveys else "unknown"
    if paper.survey:
        return "survey"
    if paper.date is None:
        return "undated"
    if paper.day == reach.day:
        return "of the cutoff's day"
    return "later" if paper.day > reach.day else "excluded"
