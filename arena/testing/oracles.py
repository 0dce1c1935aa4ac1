"""What the tools of this project must answer, derived from the files: one oracle per tool.

A tool without an oracle is held to what any tool must keep (`arena.testing.exposure`, twins,
observations, budgets, rewards): add a method to `Oracle` and name it in `ORACLES` for more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.testing.actions import Call
from arena.testing.bm25 import Bm25, wrong_scores
from arena.testing.files import Paper, Reach, Survey, title_key
from arena.testing.report import Report, Reporter, brief
from arena.testing.walk import strings

# As docs/environments.md has them.
TITLE, HEADING, HEADINGS, PAGE, PER_PAGE, MOST = 500, 100, 100, 8_000, 100, 1_000


ANY: Any = object()
"""Expected value of a key that must be there with any value."""

Expected = dict[str, tuple[str, Any]]
"""Key of a result -> (name of the leak if it differs, expected value or `ANY`)."""


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
    for name, (leak, known) in expected.items():
        if known is ANY or not isinstance(value, dict) or name not in value:
            continue
        if value[name] != known or isinstance(value[name], bool) != isinstance(known, bool):
            report(leak, f"{name}={brief(value[name])}, and by the files {brief(known)}")


def with_keys(*names: str) -> Expected:
    """Return expected keys with any value."""
    return dict.fromkeys(names, ("result", ANY))


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
        self.log.refused[_kind(self.reach, paper_id)] += 1
        if "error" not in result:
            why = self.reach.why_not(paper_id)
            report("hidden paper", f"{paper_id!r} {why}, and was answered")
        only_error(result, report)

    def hits(
        self,
        request: Mapping[str, Any],
        hits: Sequence[tuple[Any, Any, Any, Any]],
        report: Reporter,
        cut_at: int = TITLE,
    ) -> None:
        """Check the hits of a search.

        Args:
            request: ``query``, ``k``, ``offset`` and ``retriever``, or less.
            hits: (id, title, date, score) of each hit.
            report: Takes findings.
            cut_at: Characters at which titles are cut.
        """
        k, offset = request.get("k", 10), request.get("offset", 0)
        shown = [self.shown(*hit[:3], report, cut_at) for hit in hits]
        papers = [paper for paper in shown if paper is not None]
        scores = [score for *_, score in hits]
        if len(papers) < len(hits):
            return
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

    def shown(
        self, paper_id: Any, title: Any, date: Any, report: Reporter, cut_at: int = TITLE
    ) -> Paper | None:
        """Check a paper that is shown by id, title and date; return it if it is in reach."""
        self.log.counts["papers returned"] += 1
        self.heading(title, report)
        paper = self.reach.paper(paper_id)
        if paper is None:
            report("hidden paper", f"{paper_id!r} {self.reach.why_not(paper_id)}, and was shown")
            return None
        if title != paper.title[:cut_at]:
            report("title", f"{paper_id!r} is called {title!r}, and in the file {paper.title!r}")
        if date != paper.date:
            report("date", f"{paper_id!r} is dated {date!r}, and in the file {paper.date}")
        return paper

    def listed(self, papers: Any, report: Reporter) -> None:
        """Check the papers of a list."""
        for paper in _as_list(papers):
            if isinstance(paper, dict):
                self.shown(paper.get("id"), paper.get("title"), paper.get("date"), report)

    def heading(self, text: Any, report: Reporter) -> None:
        """Check that a title or heading is not that of a survey, however it is written."""
        names = self.reach.facts.title_keys
        if isinstance(text, str) and (name := names.get(title_key(text))):
            report("survey title", f"{text!r} is the title of the survey {name!r}")


class Oracle:
    """Predicts the results of one episode, and keeps what was selected and submitted in it.

    Args:
        papers: Checks papers that are shown.
        stages: (name, ``ranking`` or ``mind_map``) of the stages in order.

    Attributes:
        submitted: Stage -> the answer that was submitted.
        certain: False once a tool without an oracle was called, which may have selected,
            submitted or ended something.
    """

    def __init__(self, papers: Papers, stages: Sequence[tuple[str, str]]) -> None:
        self._papers, self._reach, self._stages = papers, papers.reach, stages
        self._at = 0
        self._selected: dict[str, None] = {}
        self.submitted: dict[str, Any] = {}
        self.certain = True

    @property
    def stage(self) -> str:
        """The name of the stage; after the end that of the last one."""
        return self._stages[min(self._at, len(self._stages) - 1)][0]

    def check(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> bool:
        """Check the result of a well-formed call, and follow the episode.

        Args:
            call: The call.
            result: Its result.
            cut: Whether the episode was truncated, so that a refusal may be one of a budget.
            report: Takes findings.

        Returns:
            Whether there is an oracle for the tool.
        """
        predict = ORACLES.get(call.tool)
        refused = "error" in result
        if predict is None:
            self.certain &= refused
            return False
        expected = predict(self, call, result, report)
        if isinstance(expected, Refusal):
            if expected.hidden:
                self._papers.refused(expected.hidden, result, report)
                return True
            if not refused:
                report("error", f"{call.tool} was answered in the stage {self.stage!r}")
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

    def search(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Check the hits, their order and, where there is a second BM25, their scores."""
        hits = result.get("hits")
        if isinstance(hits, list):
            for hit in hits:
                compare(hit, with_keys("id", "title", "date", "score"), report, "a hit")
            hits = [hit for hit in hits if isinstance(hit, dict)]
            shown = [(h.get("id"), h.get("title"), h.get("date"), h.get("score")) for h in hits]
            self._papers.hits(call.arguments, shown, report)
        elif "hits" in result:
            report("result", f"hits={brief(hits)} is no list")
        return with_keys("hits") if hits else with_keys("hits", "message")

    def read(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict the page of a section, the headings and the number of citations."""
        arguments, papers = call.arguments, self._papers
        paper = self._reach.paper(arguments["paper_id"])
        if paper is None:
            return Refusal(arguments["paper_id"])
        parts = [("Abstract", paper.abstract), *self._reach.facts.sections.get(paper.number, ())]
        section, page = arguments.get("section", 0), arguments.get("page", 1)
        if section >= len(parts):
            return Refusal(last=len(parts) - 1)
        title, text = parts[section]
        pages = max(1, math.ceil(len(text) / PAGE))
        if page > pages:
            return Refusal(last=pages)
        if "error" not in result:
            papers.shown(result.get("id"), result.get("title"), result.get("date"), report)
            for name in (result.get("heading"), *_as_list(result.get("sections"))):
                papers.heading(name, report)
            papers.log.counts["texts compared"] += 1
        return with_keys("title", "date") | {
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

    def links(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict one page of the references or citations of a paper."""
        tool, reach, arguments = call.tool, self._reach, call.arguments
        paper = reach.paper(arguments["paper_id"])
        if paper is None:
            return Refusal(arguments["paper_id"])
        ends = reach.references(paper) if tool == "references" else reach.citations(paper)
        page, pages = arguments.get("page", 1), max(1, math.ceil(len(ends) / PER_PAGE))
        if page > pages:
            return Refusal(last=pages)
        self._papers.listed(result.get(tool), report)
        return {
            "id": ("hidden paper", paper.id),
            "total": ("count", len(ends)),
            "page": ("count", page),
            "pages": ("count", pages),
            tool: ("list", listing(ends[(page - 1) * PER_PAGE : page * PER_PAGE])),
        }

    def select(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict that papers in reach are added to those selected before."""
        ids = dict.fromkeys(call.arguments["paper_ids"])
        refusal = self._refusal(list(ids), len(ids | self._selected), None)
        if refusal is None and "error" not in result:
            self._selected |= ids
        return refusal or {"selected": ("count", self._if_certain(len(self._selected)))}

    def submit(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict that a ranking of papers in reach ends a stage that asks for one."""
        ids = list(dict.fromkeys(call.arguments["paper_ids"]))
        refusal = self._refusal(ids, len(ids), "ranking")
        return refusal or {"submitted": ("count", len(ids))} | self._submit(ids, result)

    def organize(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict that a mind-map with papers in reach ends a stage that asks for one."""
        mind_map = call.arguments["mind_map"]
        ids = list(dict.fromkeys(_papers_of(mind_map)))
        refusal = self._refusal(ids, len(ids), "mind_map")
        repairs = with_keys(*({"repairs"} & result.keys()))
        exact = _is_canonical(call) and not repairs
        size = sum(1 for _ in nodes_of(mind_map)) - 1 if exact else ANY
        expected = {"organized": ("count", size)} | repairs
        return refusal or expected | self._submit(mind_map, result)

    def finish(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Prediction:
        """Predict that what was selected is submitted where a ranking is due."""
        ranking = self._stages[self._at][1] == "ranking"
        if ranking:
            self.submitted[self.stage] = list(self._selected)
        return {"submitted": ("count", self._if_certain(len(self._selected) if ranking else 0))}

    def _if_certain(self, count: int) -> Any:
        return count if self.certain else ANY

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
        if self._at == len(self._stages):
            return {}
        return with_keys("message") | {"stage": ("count", self.stage)}


Prediction = Expected | Refusal

ORACLES: dict[str, Callable[[Oracle, Call, Mapping[str, Any], Reporter], Prediction]] = {
    "search": Oracle.search,
    "read": Oracle.read,
    "references": Oracle.links,
    "citations": Oracle.links,
    "select": Oracle.select,
    "submit": Oracle.submit,
    "organize": Oracle.organize,
    "finish": Oracle.finish,
}
"""Name of a tool -> the method that predicts its results."""


def listing(papers: Sequence[Paper]) -> list[dict[str, Any]]:
    """Return papers as agents are shown them in lists."""
    return [{"id": p.id, "title": p.title[:TITLE], "date": p.date} for p in papers]


def nodes_of(mind_map: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a mind-map in a form with named keys, the root first."""
    waiting = [mind_map]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += [*(node.get("children") or ()), *(node.get("subtopics") or ())]
        elif isinstance(node, str):
            yield {"label": node}


def _papers_of(mind_map: Any) -> list[str]:
    """Return the papers of a mind-map with named keys; other forms have none."""
    if not isinstance(mind_map, dict) or not {"label", "name"} & mind_map.keys():
        return []
    listed = (node.get("papers") for node in nodes_of(mind_map))
    return [paper_id for papers in listed if isinstance(papers, list) for paper_id in papers]


def _is_canonical(call: Call) -> bool:
    """Return whether the mind-map of a call has the documented form; another may be unreadable."""
    mind_map = call.arguments["mind_map"]
    return isinstance(mind_map, dict) and "label" in mind_map


def _as_list(value: Any) -> list[Any]:
    """Return a list as it is, and no items for anything else, which `compare` reports."""
    return value if isinstance(value, list) else []


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


# What `info` may hold: nothing of the labels before the end, and at the end only figures.

_STEP = {"survey", "reward_terms"}
END = {*_STEP, "gold", "references", "references_total", "answers", "metrics"}
"""Keys of the info of an episode that is over."""
_BOUNDED = {
    "recall", "precision", "ndcg", "mrr", "survey_score", "heading_soft_f1",
    "heading_entity_recall", "normalised_tree_edit_distance",
    "normalised_tree_semantic_distance",
}  # fmt: skip
"""Metrics from 0 to 1; of a metric that is named in neither set any finite number may come."""
_UNBOUNDED = {
    "heading_soft_recall", "heading_soft_precision", "tree_edit_distance", "tree_semantic_distance",
}  # fmt: skip
"""Metrics from 0 that may exceed 1 (docs/mind-map-metrics.md)."""


def check_step_info(
    info: Mapping[str, Any], reward: float, survey: Survey, over: bool, report: Reporter
) -> None:
    """Check the keys, and that the reward terms are named numbers that add up to the reward."""
    expected = END if over else _STEP
    if set(info) != expected:
        report("info", f"it has the keys {sorted(info)}, and should have {sorted(expected)}")
    if info.get("survey") != survey.id:
        report("info", f"survey={info.get('survey')!r}, and should be {survey.id!r}")
    terms = info.get("reward_terms")
    if not _are_numbers(terms) or not math.isclose(sum(terms.values()), reward, abs_tol=1e-12):  # type: ignore[union-attr]
        report("info", f"reward_terms={terms!r} for the reward {reward!r}")


def check_end_info(
    info: Mapping[str, Any],
    survey: Survey,
    submitted: Mapping[str, Any] | None,
    report: Reporter,
) -> None:
    """Check that the answers are those submitted, and that all else is figures of the files.

    Args:
        info: Info of the last step.
        survey: Survey of the episode.
        submitted: Stage -> the answer that was submitted; None if it is not known.
        report: Takes findings.
    """
    expected = {
        "gold": len(survey.gains),
        "references": len(survey.references),
        "references_total": survey.references_total,
    }
    for name, value in expected.items():
        if name in info and info[name] != value:
            report("info", f"{name}={info[name]!r}, and by the files {value}")
    metrics = info.get("metrics")
    if not _are_numbers(metrics) or not all(_in_range(*pair) for pair in metrics.items()):  # type: ignore[union-attr]
        report("info", f"metrics={metrics!r}")
    answers = info.get("answers")
    if submitted is None:
        return
    if not isinstance(answers, Mapping) or set(answers) != set(submitted):
        report("info", f"answers to {answers!r:.200}, and submitted was {sorted(submitted)}")
        return
    for stage, answer in answers.items():
        _check_answer(stage, answer, submitted[stage], report)


def _check_answer(stage: str, answer: Any, submitted: Any, report: Reporter) -> None:
    if isinstance(submitted, Sequence):
        if list(answer) != list(submitted):
            report("info", f"the answer to {stage!r} is not what was submitted: {answer!r:.200}")
        return
    known = _normal(submitted) | {"", "label", "children", "papers"}
    if not _normal(answer) <= known:
        report("info", f"the answer to {stage!r} has more than was submitted: {answer!r:.200}")


def _normal(value: Any) -> set[str]:
    """Return every string in a value of JSON, keys as well, with white space collapsed."""
    return {" ".join(text.split()) for _, text in strings(value)}


def _in_range(name: str, value: float) -> bool:
    if name in _UNBOUNDED:
        return value >= 0
    return 0 <= value <= 1 or name.partition("@")[0] not in _BOUNDED


def _are_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
