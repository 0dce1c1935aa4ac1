"""What the tools of this project must answer, derived from the files: one oracle per tool.

A tool without an oracle is held to what any tool must keep (`arena.testing.exposure`, twins,
observations, budgets, rewards): add a method to `Oracle` and name it in `ORACLES` for more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from arena.testing.actions import Call
from arena.testing.bm25 import Bm25, wrong_scores
from arena.testing.files import Paper, Reach, Survey, title_key
from arena.testing.report import Report, Reporter, brief
from arena.testing.walk import strings

# As docs/environments.md has them.
TITLE, HEADING, HEADINGS, PAGE, PER_PAGE, MOST = 500, 100, 100, 8_000, 100, 1_000


def only_error(result: Mapping[str, Any], report: Reporter) -> None:
    """Check that a refusal is an error text and nothing else."""
    if set(result) != {"error"} or not isinstance(result["error"], str):
        report("error", f"a refusal has the keys {sorted(result)}")


def keys(value: Any, expected: set[str], what: str, report: Reporter) -> None:
    """Check that `value` is a dict of exactly these keys."""
    if not isinstance(value, dict) or set(value) != expected:
        actual = sorted(value) if isinstance(value, dict) else value
        report("result", f"{what} has {actual!r}, and should have {sorted(expected)}")


def compare(
    result: Mapping[str, Any],
    expected: Mapping[str, tuple[str, Any]],
    more: set[str],
    report: Reporter,
) -> None:
    """Check a result key by key.

    Args:
        result: Result of a tool.
        expected: Key -> (name of the leak if it differs, expected value).
        more: Further keys that the result must have.
        report: Takes findings.
    """
    keys(result, expected.keys() | more, "the result", report)
    for name, (check, value) in expected.items():
        if name in result and (
            result[name] != value or isinstance(result[name], bool) != isinstance(value, bool)
        ):
            report(check, f"{name}={brief(result[name])}, and by the files {brief(value)}")


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
        method = ORACLES.get(call.tool)
        if method is not None:
            method(self, call, result, cut, report)
        elif "error" not in result:
            self.certain = False
        return method is not None

    def follow(self, stage: str) -> None:
        """Go on with a stage that a tool without an oracle has begun."""
        names = [name for name, _ in self._stages]
        if not self.certain and stage in names:
            self._at = names.index(stage)

    def search(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check the hits, their order and, where there is a second BM25, their scores."""
        if "error" in result:
            _refused_by_budget(result, cut, report)
            return
        hits = result.get("hits")
        if not isinstance(hits, list):
            report("result", f"hits={hits!r}")
            return
        keys(result, {"hits"} if hits else {"hits", "message"}, "the result", report)
        for hit in hits:
            keys(hit, {"id", "title", "date", "score"}, "a hit", report)
        shown = [(h.get("id"), h.get("title"), h.get("date"), h.get("score")) for h in hits]
        self._papers.hits(call.arguments, shown, report)

    def read(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check the page of a section, the headings and the number of citations."""
        paper = self._paper(call, result, report)
        if paper is None:
            return
        parts = [("Abstract", paper.abstract), *self._reach.facts.sections.get(paper.number, ())]
        section, page = call.arguments.get("section", 0), call.arguments.get("page", 1)
        if section >= len(parts):
            _beyond_the_end(result, len(parts) - 1, cut, report)
            return
        title, text = parts[section]
        pages = max(1, math.ceil(len(text) / PAGE))
        if page > pages:
            _beyond_the_end(result, pages, cut, report)
            return
        if "error" in result:
            _refused_by_budget(result, cut, report)
            return
        shown = self._papers
        shown.shown(result.get("id"), result.get("title"), result.get("date"), report)
        for name in (result.get("heading"), *(result.get("sections") or ())):
            shown.heading(name, report)
        expected = {
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
        shown.log.counts["texts compared"] += 1
        compare(result, expected, {"title", "date"}, report)

    def links(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check one page of the references or citations of a paper."""
        paper = self._paper(call, result, report)
        if paper is None:
            return
        tool, reach = call.tool, self._reach
        ends = reach.references(paper) if tool == "references" else reach.citations(paper)
        page, pages = call.arguments.get("page", 1), max(1, math.ceil(len(ends) / PER_PAGE))
        if page > pages:
            _beyond_the_end(result, pages, cut, report)
            return
        if "error" in result:
            _refused_by_budget(result, cut, report)
            return
        listed = result.get(tool)
        for item in listed if isinstance(listed, list) else ():
            keys(item, {"id", "title", "date"}, "a listed paper", report)
            self._papers.shown(item.get("id"), item.get("title"), item.get("date"), report)
        expected = {
            "id": ("hidden paper", paper.id),
            "total": ("count", len(ends)),
            "page": ("count", page),
            "pages": ("count", pages),
            tool: ("list", listing(ends[(page - 1) * PER_PAGE : page * PER_PAGE])),
        }
        compare(result, expected, set(), report)

    def select(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check that papers in reach are added to those selected before."""
        ids = dict.fromkeys(call.arguments["paper_ids"])
        if self._accepted(call, list(ids), len(ids | self._selected), result, report):
            self._selected |= ids
            if self.certain:
                _figures(result, {"selected": len(self._selected)}, set(), report)

    def submit(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check that a ranking of papers in reach ends a stage that asks for one."""
        ids = list(dict.fromkeys(call.arguments["paper_ids"]))
        if self._accepted(call, ids, len(ids), result, report, "ranking"):
            self._next_stage(ids, {"submitted": len(ids)}, set(), result, report)

    def organize(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check that a mind-map with papers in reach ends a stage that asks for one."""
        mind_map = call.arguments["mind_map"]
        canonical = isinstance(mind_map, dict) and "label" in mind_map
        ids = list(dict.fromkeys(_papers_of(mind_map)))
        if self._accepted(call, ids, len(ids), result, report, "mind_map", canonical):
            repairs = {"repairs"} & result.keys()
            size = sum(1 for _ in nodes_of(mind_map)) - 1
            exact = canonical and not repairs
            figures = {"organized": size if exact else result.get("organized")}
            self._next_stage(mind_map, figures, repairs, result, report)

    def finish(self, call: Call, result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
        """Check that what was selected is submitted where a ranking is due."""
        ranking = self._stages[self._at][1] == "ranking"
        if ranking:
            self.submitted[self.stage] = list(self._selected)
        if self.certain:
            figures = {"submitted": len(self._selected) if ranking else 0}
            _figures(result, figures, set(), report)

    def _paper(self, call: Call, result: Mapping[str, Any], report: Reporter) -> Paper | None:
        paper_id = call.arguments["paper_id"]
        paper = self._reach.paper(paper_id)
        if paper is None:
            self._papers.refused(paper_id, result, report)
        return paper

    def _accepted(
        self,
        call: Call,
        ids: list[str],
        count: int,
        result: Mapping[str, Any],
        report: Reporter,
        kind: str | None = None,
        readable: bool = True,
    ) -> bool:
        """Return whether ids are accepted; check that they are exactly if they should be."""
        hidden = [paper_id for paper_id in ids if self._reach.paper(paper_id) is None]
        if hidden:
            self._papers.refused(hidden[-1], result, report)
            return False
        refused = "error" in result
        if count > MOST or kind not in (None, self._stages[self._at][1]):
            if not refused:
                text = f"{call.tool} of {count} ids was accepted in the stage {self.stage!r}"
                report("error", text)
            only_error(result, report)
            return False
        if refused:
            only_error(result, report)
            if readable:
                report("missing paper", f"refused: {result['error']}")
        return not refused

    def _next_stage(
        self,
        answer: Any,
        figures: dict[str, Any],
        more: set[str],
        result: Mapping[str, Any],
        report: Reporter,
    ) -> None:
        self.submitted[self.stage] = answer
        self._at += 1
        if self._at < len(self._stages):
            figures["stage"] = self.stage
            more = {*more, "message"}
        _figures(result, figures, more, report)


ORACLES: dict[str, Callable[[Oracle, Call, Mapping[str, Any], bool, Reporter], None]] = {
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


def _figures(
    result: Mapping[str, Any], expected: dict[str, Any], more: set[str], report: Reporter
) -> None:
    """Check a result that shows no paper."""
    compare(result, {name: ("count", value) for name, value in expected.items()}, more, report)


def _refused_by_budget(result: Mapping[str, Any], cut: bool, report: Reporter) -> None:
    only_error(result, report)
    if not cut:
        report("missing paper", f"refused: {result['error']}")


def _beyond_the_end(result: Mapping[str, Any], last: int, cut: bool, report: Reporter) -> None:
    """Check the refusal of a page or section that does not exist: it says how many there are."""
    if "error" not in result:
        report("error", "a page or section that does not exist was answered")
        return
    only_error(result, report)
    numbers = re.findall(r"\d+", str(result["error"]))
    if not cut and (not numbers or int(numbers[-1]) != last):
        report("count", f"the last one is {last}, but the error says: {result['error']}")


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
    return {" ".join(text.split()) for _, text in strings(value, keys=True)}


def _in_range(name: str, value: float) -> bool:
    if name in _UNBOUNDED:
        return value >= 0
    return 0 <= value <= 1 or name.partition("@")[0] not in _BOUNDED


def _are_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
