"""What the tools of this project must answer, derived from the files: one oracle per tool.

A tool without an oracle is held to what any tool must keep (`arena.testing.exposure`, twins,
observations, budgets, rewards): add a method to `ToolOracle` and name it in `ORACLES` for more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from arena.testing.actions import SentCall
from arena.testing.bm25 import Bm25, wrong_scores
from arena.testing.files import Reach, StoredPaper, StoredSurvey, headings_of
from arena.testing.report import Report, Reporter, brief
from arena.testing.walk import strings, values_of

# As docs/environments.md has them.
TITLE, HEADING, HEADINGS, PAGE, PER_PAGE, MOST = 500, 100, 100, 8_000, 100, 1_000

ANY: Any = object()
"""Expected value of a key that must be there with any value."""

Expected = dict[str, Any]
"""Key of a result -> expected value or `ANY`."""

_LEAKS = {"id": "hidden paper", "title": "title", "date": "date", "cutoff": "date"}


class Refusal(NamedTuple):
    """A predicted refusal.

    Attributes:
        hidden: Id of the paper that is out of reach; empty if there is another reason.
        last: Number of the last page or section, which the error must name; None for no number.
    """

    hidden: str = ""
    last: int | None = None


def only_error(result: Mapping[str, Any], report: Reporter) -> None:
    """Check that a refusal is an error text and nothing else."""
    if set(result) != {"error"} or not isinstance(result["error"], str):
        report("error", f"a refusal has the keys {sorted(result)}")


def compare(value: Any, expected: Expected, report: Reporter, what: str = "the result") -> None:
    """Check that a dict has exactly the expected keys, with the expected values."""
    if not isinstance(value, dict) or set(value) != set(expected):
        actual = sorted(value) if isinstance(value, dict) else value
        report("result", f"{what} has {actual!r}, and should have {sorted(expected)}")
    for name, known in expected.items():
        if known is ANY or not isinstance(value, dict) or name not in value:
            continue
        if value[name] != known or isinstance(value[name], bool) != isinstance(known, bool):
            kinds = {int: "count", list: "list"}
            leak = _LEAKS.get(name) or kinds.get(type(known), "text")
            report(leak, f"{name}={brief(value[name])}, and by the files {brief(known)}")


class Papers:
    """Checks papers that are shown, by a tool or by a view.

    Args:
        reach: The papers that exist.
        scorers: Second BM25 of each index that is one, by name.
        engine: The engine that searches unless a call names another.
        log: Counts what is compared.
    """

    def __init__(self, reach: Reach, scorers: Mapping[str, Bm25], engine: str, log: Report) -> None:
        self.reach, self._scorers, self._engine, self.log = reach, scorers, engine, log

    def refused(self, paper_id: str, result: Mapping[str, Any], report: Reporter) -> None:
        """Check that a call with a hidden id returned an error and nothing else."""
        self.log.counts["ids refused"] += 1
        self.log.refused[self.reach.kind(paper_id)] += 1
        if "error" not in result:
            why = self.reach.why_not(paper_id)
            report("hidden paper", f"{paper_id!r} {why}, and was answered")
        only_error(result, report)

    def shown(self, items: Any, report: Reporter) -> list[StoredPaper]:
        """Check id, title and date of papers that are shown; return those in reach."""
        papers = []
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue  # which `compare` reports
            self.log.counts["papers returned"] += 1
            paper = self.reach.paper(item.get("id"))
            if paper is None:
                why = self.reach.why_not(item.get("id"))
                report("hidden paper", f"{item.get('id')!r} {why}, and was shown")
                continue
            papers.append(paper)
            if item.get("title") not in (paper.title, paper.title[:TITLE]):
                what = f"{item.get('title')!r}, and in the file {paper.title!r}"
                report("title", f"{paper.id!r} is called {what}")
            if item.get("date") != paper.date:
                what = f"{item.get('date')!r}, and in the file {paper.date}"
                report("date", f"{paper.id!r} is dated {what}")
        return papers

    def hits(self, request: Mapping[str, Any], hits: list[Any], report: Reporter) -> None:
        """Check the hits of a search.

        Args:
            request: ``query``, ``k``, ``offset`` and ``retriever``, or less.
            hits: Dicts with the id, title, date and score of each hit.
            report: Takes findings.
        """
        k, offset = request.get("k", 10), request.get("offset", 0)
        papers = self.shown(hits, report)
        if len(papers) < len(hits):
            return
        scores = [hit.get("score") for hit in hits]
        if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
            report("order of hits", f"scores {scores!r}")
            return
        order = [(-score, paper.number) for score, paper in zip(scores, papers, strict=True)]
        if order != sorted(order) or len({p.number for p in papers}) < len(hits) or len(hits) > k:
            report("order of hits", f"{len(hits)} hits for k={k}: {order[:5]!r} ...")
        scorer = self._scorers.get(request.get("retriever") or self._engine)
        if scorer is not None:
            expected = scorer.scores(request["query"], self.reach)
            wrong = wrong_scores(expected, [p.number for p in papers], scores, offset, k)
            self.log.counts["rankings computed again"] += 1
            self.log.counts["scores compared"] += len(scores)
            if wrong:
                report("score", wrong)


class ToolOracle:
    """Predicts the results of one episode, and keeps what was selected and submitted in it.

    Args:
        papers: Checks papers that are shown.
        stages: (name, ``ranking`` or ``mind_map``) of the stages in order.
        given: Ids of the papers that the episode began with.
        show: Input that the environment shows.

    Attributes:
        submitted: Stage -> the answer that was submitted.
        certain: False once a tool without an oracle was called, which may have selected,
            submitted or ended something.
    """

    def __init__(
        self,
        papers: Papers,
        stages: Sequence[tuple[str, str]],
        given: Collection[str] = (),
        show: str | None = None,
    ) -> None:
        self._papers, self._reach, self._stages = papers, papers.reach, stages
        self._given, self._show = set(given), show
        self._at = 0
        self._selected: dict[str, None] = {}
        self.submitted: dict[str, Any] = {}
        self.certain = True

    @property
    def stage(self) -> str:
        """The name of the stage; after the end that of the last one."""
        return self._stages[min(self._at, len(self._stages) - 1)][0]

    def check(self, call: SentCall, result: dict[str, Any], cut: bool, report: Reporter) -> bool:
        """Check the result of a call, and follow the episode.

        Args:
            call: The call.
            result: Its result.
            cut: Whether the episode was truncated, so that a refusal may be one of a budget.
            report: Takes findings.

        Returns:
            Whether the result was predicted: there is an oracle for the tool, or no tool.
        """
        predict = ORACLES.get(call.tool)
        refused = "error" in result
        if predict is None and call.tool:
            self.certain &= refused
            return False
        expected = predict(self, call, result, report) if predict else Refusal()
        if isinstance(expected, Refusal):
            if expected.hidden:
                self._papers.refused(expected.hidden, result, report)
                return True
            if not refused:
                what = call.tool or "a malformed call"
                report("error", f"{what} was answered in the stage {self.stage!r}")
            only_error(result, report)
            numbers = re.findall(r"\d+", str(result.get("error")))
            if expected.last is not None and not cut and numbers[-1:] != [str(expected.last)]:
                report("count", f"the last one is {expected.last}, but {result.get('error')!r}")
        elif refused:
            only_error(result, report)
            costs = call.tool not in ("select", "submit", "organize", "finish")
            unreadable = call.tool == "organize" and not _is_canonical(call)
            if not (cut and costs) and not unreadable:
                report("missing paper", f"refused: {result['error']}")
        else:
            compare(result, expected, report)
        return True

    def follow(self, stage: str) -> None:
        """Go on with a stage that a tool without an oracle has begun."""
        names = [name for name, _ in self._stages]
        if not self.certain and stage in names:
            self._at = names.index(stage)

    # Each method returns what the result must be. `result` says whether the call was accepted.

    def search(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Check the hits, their order and, where there is a second BM25, their scores."""
        hits = result.get("hits")
        if isinstance(hits, list):
            for hit in hits:
                compare(hit, dict.fromkeys(("id", "title", "date", "score"), ANY), report, "a hit")
            self._papers.hits(call.arguments, [h for h in hits if isinstance(h, dict)], report)
        elif "hits" in result:
            report("result", f"hits={brief(hits)} is no list")
        return {"hits": ANY} | ({} if hits else {"message": ANY})

    def read(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict the page of a section, the headings and the number of citations."""
        arguments = call.arguments
        paper = self._reach.paper(arguments["paper_id"])
        if paper is None:
            return Refusal(arguments["paper_id"])
        facts = self._reach.facts
        parts = [self._abstract(paper), *facts.sections.get(paper.number, ())]
        section, page = arguments.get("section", 0), arguments.get("page", 1)
        if section >= len(parts):
            return Refusal(last=len(parts) - 1)
        heading, text = parts[section]
        pages = max(1, math.ceil(len(text) / PAGE))
        if page > pages:
            return Refusal(last=pages)
        self._papers.log.counts["texts compared"] += "error" not in result
        return {
            **listing([paper])[0],
            "text": text[(page - 1) * PAGE : page * PAGE],
            "heading": heading[:TITLE],
            "sections": [name[:HEADING] for name, _ in parts[:HEADINGS]],
            "citations": len(self._reach.linked("citations", paper)),
            "characters": len(text),
            "page": page,
            "pages": pages,
            "section": section,
        }

    def _abstract(self, paper: StoredPaper) -> tuple[str, str]:
        """Return heading and text of section 0; digests of some papers are for those given."""
        if self._show:
            heading, complete, texts = self._reach.facts.digests(self._show)
            if paper.number in texts and (complete or paper.id in self._given):
                return heading, f"{paper.abstract}\n\n{texts[paper.number]}".strip()
        return "Abstract", paper.abstract

    def links(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict one page of the references or citations of a paper."""
        tool, arguments = call.tool, call.arguments
        paper = self._reach.paper(arguments["paper_id"])
        if paper is None:
            return Refusal(arguments["paper_id"])
        ends = self._reach.linked(tool, paper)
        page, pages = arguments.get("page", 1), max(1, math.ceil(len(ends) / PER_PAGE))
        if page > pages:
            return Refusal(last=pages)
        self._papers.shown(result.get(tool), report)
        listed = listing(ends[(page - 1) * PER_PAGE : page * PER_PAGE])
        return {"id": paper.id, "total": len(ends), "page": page, "pages": pages, tool: listed}

    def select(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict that papers in reach are added to those selected before."""
        ids = dict.fromkeys(call.arguments["paper_ids"])
        refusal = self._refusal(list(ids), len(ids | self._selected), None)
        if refusal is None and "error" not in result:
            self._selected |= ids
        return refusal or {"selected": len(self._selected) if self.certain else ANY}

    def submit(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict that a ranking of papers in reach ends a stage that asks for one."""
        ids = list(dict.fromkeys(call.arguments["paper_ids"]))
        refusal = self._refusal(ids, len(ids), "ranking")
        return refusal or {"submitted": len(ids)} | self._submit(ids, result)

    def organize(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict that a mind-map with papers in reach ends a stage that asks for one."""
        mind_map = call.arguments["mind_map"]
        ids = list(dict.fromkeys(values_of("papers", mind_map)))
        if refusal := self._refusal(ids, len(ids), "mind_map"):
            return refusal
        repairs = dict.fromkeys({"repairs"} & result.keys(), ANY)
        exact = _is_canonical(call) and not repairs
        size = len(list(headings_of(mind_map))) - 1 if exact else ANY
        return {"organized": size, "filed": ANY} | repairs | self._submit(mind_map, result)

    def finish(self, call: SentCall, result: dict[str, Any], report: Reporter) -> Prediction:
        """Predict that what was selected is submitted where a ranking is due."""
        ranking = self._stages[self._at][1] == "ranking"
        if ranking:
            self.submitted[self.stage] = list(self._selected)
        return {"submitted": ranking * len(self._selected) if self.certain else ANY}

    def _refusal(self, ids: list[str], count: int, kind: str | None) -> Refusal | None:
        """Return the refusal of ids: one is hidden, they are too many, or the stage is another."""
        hidden = [paper_id for paper_id in ids if self._reach.paper(paper_id) is None]
        if hidden:
            return Refusal(hidden[-1])
        wrong_stage = kind not in (None, self._stages[self._at][1])
        return Refusal() if count > MOST or wrong_stage else None

    def _submit(self, answer: Any, result: Mapping[str, Any]) -> Expected:
        """Submit an answer if it was accepted; return what the result says of the next stage."""
        if "error" in result:
            return {}
        self.submitted[self.stage] = answer
        self._at += 1
        return {} if self._at == len(self._stages) else {"message": ANY, "stage": self.stage}


Prediction = Expected | Refusal

ORACLES: dict[str, Callable[[ToolOracle, SentCall, dict[str, Any], Reporter], Prediction]] = {
    "search": ToolOracle.search,
    "read": ToolOracle.read,
    "references": ToolOracle.links,
    "citations": ToolOracle.links,
    "select": ToolOracle.select,
    "submit": ToolOracle.submit,
    "organize": ToolOracle.organize,
    "finish": ToolOracle.finish,
}
"""Name of a tool -> the method that predicts its results."""


def listing(papers: Sequence[StoredPaper]) -> list[dict[str, Any]]:
    """Return papers as agents are shown them in lists."""
    return [{"id": p.id, "title": p.title[:TITLE], "date": p.date} for p in papers]


def _is_canonical(call: SentCall) -> bool:
    """Return whether the mind-map of a call has the documented form; another may be unreadable."""
    mind_map = call.arguments["mind_map"]
    return isinstance(mind_map, dict) and "label" in mind_map


# What `info` may hold: nothing of the labels before the end, and at the end only figures.

_STEP = {"survey", "reward_terms"}
END = {*_STEP, "gold", "references", "references_total", "answers", "metrics"}
"""Keys of the info of an episode that is over."""


def check_info(
    info: Mapping[str, Any],
    survey: StoredSurvey,
    over: bool,
    reward: float,
    submitted: Mapping[str, Any] | None,
    report: Reporter,
    further: Collection[str] = (),
) -> None:
    """Check the info of a step: reward terms and, at the end, what was submitted and figures.

    Args:
        info: Info of the step.
        survey: Survey of the episode.
        over: Whether it was the last step.
        reward: Reward of the step.
        submitted: Stage -> the answer that was submitted; None if it is not known.
        report: Takes findings.
        further: Keys that the info of the last step has besides `END`.
    """
    expected = {*END, *further} if over else _STEP
    if set(info) != expected:
        report("info", f"it has the keys {sorted(info)}, and should have {sorted(expected)}")
    terms = info.get("reward_terms")
    if not _are_numbers(terms) or not math.isclose(sum(terms.values()), reward, abs_tol=1e-12):  # type: ignore[union-attr]
        report("info", f"reward_terms={terms!r} for the reward {reward!r}")
    for name, value in (
        ("survey", survey.id),
        ("gold", len(survey.gains)),
        ("references", len(survey.references)),
        ("references_total", survey.references_total),
    ):
        if name in info and info[name] != value:
            report("info", f"{name}={info[name]!r}, and by the files {value!r}")
    if not over:
        return
    metrics, answers = info.get("metrics"), info.get("answers")
    if not _are_numbers(metrics):
        report("info", f"metrics={metrics!r}")
    if submitted is None:
        return
    if not isinstance(answers, Mapping) or set(answers) != set(submitted):
        report("info", f"answers to {answers!r:.200}, and submitted was {sorted(submitted)}")
        return
    for stage, answer in answers.items():
        sent = submitted[stage]
        known = _normal(sent) | {"", "label", "children", "papers"}
        if list(answer) != sent if isinstance(sent, list) else not _normal(answer) <= known:
            report("info", f"the answer to {stage!r} is not what was submitted: {answer!r:.200}")


def _normal(value: Any) -> set[str]:
    """Return every string in a value of JSON, keys as well, with white space collapsed."""
    return {" ".join(text.split()) for _, text in strings(value)}


def _are_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
