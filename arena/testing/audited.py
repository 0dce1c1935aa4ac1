"""One audited episode: draws the actions, and checks everything that comes back."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.corpus import Corpus
from arena.corpus.digests import ShownDigests
from arena.errors import UnknownPaperError
from arena.papers import MAX_QUERY, MAX_TITLE, Hit
from arena.runs.episodes import PlayedStep
from arena.tasks import TASKS, kind_of, stages_of
from arena.testing.attacks import Attack, Attacker, SentCall, ToolTarget, without_ids
from arena.testing.exposure import Exposure
from arena.testing.reference import Bm25, PlainView, wrong_scores
from arena.testing.report import AuditReport, Reporter, brief
from arena.testing.stored import StoredCorpus, StoredSurvey
from arena.testing.values import flat, parsed, plain, strings
from arena.tools import (
    BudgetError,
    Episode,
    Search,
    Shown,
    ToolError,
    encode,
    parse_action,
)

ANY: Any = object()
"""Expected value of a key that must be there with any value."""

_BUDGET = ("steps", "searches", "reads", "characters")
_IDS = ("paper_id", "paper_ids", "papers")
_CHECKS = {
    "id": "leak.paper", "title": "answer.title", "date": "leak.date", "cutoff": "leak.date",
    "error": "leak.refusal", "message": "answer.instruction",
}  # fmt: skip


class AuditedEnv(NamedTuple):
    """An environment to audit."""

    id: str
    task: str
    arguments: Mapping[str, Any] = {}  # besides those of every audit
    vector: int = 0  # number of environments in a vector; 0 for a scalar one

    def but(self, **arguments: Any) -> AuditedEnv:
        """Return the same environment with other arguments."""
        return self._replace(arguments={**self.arguments, **arguments})

    @property
    def starts_with_references(self) -> bool:
        """Whether an episode starts with the references of the survey."""
        default = TASKS.get(self.task).references
        return bool(self.arguments.get("references", default) == "oracle")

    def starting_papers(self, survey: StoredSurvey, view: PlainView) -> list[str] | None:
        """Return the ids of the papers that an episode starts with; None if it has no such list."""
        if found := self.arguments.get("found"):
            return [paper_id for paper_id in found.get(survey.id, ()) if paper_id in view][:1_000]
        if not self.starts_with_references:
            return None
        rows = filter(None, (view.row(row["reference"]) for row in survey.references))
        return [row.id for row in sorted(rows)][:1_000]  # by their dates

    @property
    def same_step(self) -> bool:
        """Whether a new episode begins with the step that ends the old one."""
        return self.arguments.get("autoreset_mode") == "SameStep"

    @property
    def name(self) -> str:
        """The id and what distinguishes this environment from others of that id."""
        words = [f"{name}={value!r}" for name, value in self.arguments.items()]
        return " ".join([self.id, *[f"vector of {self.vector}"] * bool(self.vector), *words])

    def episode(self, view: PlainView, retriever: Callable[[str], PlainView]) -> Episode:
        """Return the state of an episode over reference views."""
        stages = stages_of(self.task)
        instructions = [stage.instruction for _, stage in stages]
        if TASKS.get(self.task).stages:
            instructions[0] = f"{TASKS.get(self.task).instruction} {instructions[0]}"
        answers = tuple((name, stage.answer) for name, stage in stages)
        return Episode(view, retriever, answers, tuple(instructions), {})  # type: ignore[arg-type]


class AuditState(NamedTuple):
    """What all episodes and views of one audit share."""

    corpus: Corpus
    stored: StoredCorpus
    retrievers: tuple[str, ...]  # the first one is the environments' own
    scorers: Mapping[str, Bm25]  # second BM25 of the engines that are one
    log: AuditReport
    exposure: Exposure
    surveys: Iterator[str]  # ids of surveys to play, without end
    advance: Callable[[int], Any]  # takes a number of actions that are done

    def plain_view(self, cutoff: str, excluded: Collection[str], engine: str) -> PlainView:
        """Return the reference of a view."""

        def search(query: str, k: int) -> list[Hit]:
            view = self.corpus.at(cutoff, exclude=list(excluded), retriever=engine)
            return view.search(query, k)

        return PlainView(self.stored, cutoff, excluded, engine, search)


class AuditedEpisode:
    """Draws actions for one episode and checks each answer; `over` once it has ended."""

    def __init__(
        self,
        audited: AuditedEnv,
        target: ToolTarget,
        survey_id: str,
        state: AuditState,
        rng: random.Random,
    ) -> None:
        self._survey, self.over = state.stored.surveys[survey_id], False
        self._audited, self._target, self._shared = audited, target, state
        self._log = state.log
        self._where = f"{audited.name}, survey {survey_id!r} before {self._survey.date}"
        date = self._survey.date
        views = {name: state.plain_view(date, (survey_id,), name) for name in state.retrievers}
        self._view = views[state.retrievers[0]]
        # The same episode over the reference; what it answers is expected of the environment.
        self._state = audited.episode(self._view, views.__getitem__)
        self._attacker = Attacker(self._view, rng, self._survey, target)
        self._sent = {self._survey.title.lower()[:MAX_QUERY]}
        self._attack, self._waiting = Attack(()), list[SentCall]()
        self._answers: list[dict[str, Any]] = []
        self._call = SentCall(None)
        self._budget: dict[str, int] = {}

    def act(self) -> Any:
        """Return the action to send."""
        if not self._waiting:
            self._attack, self._answers = self._attacker.attack(), []
            self._waiting = list(self._attack.calls)
        self._call = self._waiting.pop(0)
        self._sent.update(text for _, text in strings(self._call.arguments))
        return self._call.action

    def begin(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Check what a reset returned."""
        self._log.surveys.add(self._survey.id)
        self._log.cutoffs.add(self._survey.date)
        report = self.reporter("reset()")
        expected: dict[str, Any] = {"message": self._state.instructions[0]}
        result = self._observed(observation, report)
        compare(plain(info), {"survey": self._survey.id}, named(report, "leak.info"))
        limits = {name: self._audited.arguments.get(f"max_{name}") for name in self._budget}
        given = {name: most for name, most in limits.items() if most is not None}
        if not given.items() <= self._budget.items():
            report("answer.budget", f"it begins with {self._budget}, and should with {given}")
        if (ids := self._audited.starting_papers(self._survey, self._view)) is not None:
            expected["references"] = self._state.listed(ids)
            self._state.given = frozenset(ids)
            self._log.counts["papers returned"] += len(ids)
        if stored := self._shared.stored.digests.get(self._audited.arguments.get("show", "")):
            allowed = stored.texts if stored.complete else self._state.given
            known = {paper: stored.texts.get(paper, "") for paper in allowed}
            self._state.digests = ShownDigests(stored.heading, lambda paper: known.get(paper, ""))
        compare(result, expected, report)
        self._expose(result, report)

    def take(self, step: PlayedStep) -> None:
        """Check what a step returned."""
        call, report, log = self._call, self.reporter(brief(self._call.action)), self._log
        log.counts["actions"] += 1
        log.tools[call.tool or "malformed"] += 1
        log.environments[self._audited.name] += 1
        before = self._budget
        predicted, broke = self._predicted(call, before, report)
        result = self._observed(step.observation, report)
        self.over = step.terminated or step.truncated
        if predicted is not None:
            self._check_result(call, predicted, result, step.truncated, report)
            self._check_cost(predicted, broke, step, report)
        if (stage := step.observation.get("stage")) != self._state.stage:
            report("answer.observation", f"stage={stage!r}")
        self._expose(result, report)
        if step.truncated:
            self._state.finish(truncated=True)
        answers = {s: kind_of(s).to_json(each) for s, each in self._state.answers.items()}
        check_info(step.info, self._survey, self.over, step.reward, answers, report)
        spent = {name: before[name] - left for name, left in self._budget.items() if name in before}
        ends = {"terminated": step.terminated, "truncated": step.truncated}
        self._answers.append({"result": result, "spent": spent, "reward": step.reward, **ends})
        if len(self._attack.calls) == len(self._answers) > 1:
            self._compare_answers(report)

    def crash(self, error: Exception) -> None:
        """Report an exception."""
        self.reporter(brief(self._call.action))("answer.crash", f"{type(error).__name__}: {error}")

    def reporter(self, action: str) -> Reporter:
        """Return a function that takes findings of this episode."""
        return lambda check, what: self._log.add(check, self._where, action, what)

    def _observed(self, observation: Mapping[str, Any], report: Reporter) -> dict[str, Any]:
        """Check an observation; return the result in it."""
        expected = {"topic": self._survey.title.lower()[:MAX_QUERY], "cutoff": self._survey.date}
        expected |= dict.fromkeys(("stage", "result", "budget"), ANY)
        compare(observation, expected, named(report, "answer.observation"))
        budget = observation.get("budget")
        numbers = isinstance(budget, Mapping) and all(
            isinstance(left, int | np.integer) for left in budget.values()
        )
        self._budget = {name: int(left) for name, left in budget.items()} if numbers else {}  # type: ignore[union-attr]
        writes = "report" in dict(self._state.stages).values()
        if set(self._budget) != {*_BUDGET, *["written"] * writes}:
            report("answer.observation", f"budget={brief(budget)}")
        result = parsed(observation.get("result", ""))
        if not isinstance(result, dict):
            report("answer.result", f"it is no object of JSON: {brief(observation.get('result'))}")
            return {}
        return result

    def _predicted(
        self, call: SentCall, budget: dict[str, int], report: Reporter
    ) -> tuple[Any, bool]:
        """Return what a call returns over the reference, and whether a budget has run out.

        The first is None if the tool fails there.
        """
        self._state.budget = budget | {"steps": budget.get("steps", 1) - 1}
        parsed_call = parse_action(call.action, self._target.tools)
        if isinstance(parsed_call, str):
            return {"error": parsed_call}, False
        try:
            return parsed_call.tool.function(self._state, **parsed_call.arguments), False
        except (ToolError, UnknownPaperError) as error:
            return {"error": str(error)}, isinstance(error, BudgetError)
        except Exception as error:
            report("answer.crash", f"over the reference view: {type(error).__name__}: {error}")
            return None, False

    def _check_cost(self, predicted: Any, broke: bool, step: PlayedStep, report: Reporter) -> None:
        """Check what a call took off the budget, and whether the episode is over."""
        budget, text = self._state.budget, step.observation["result"]
        if isinstance(predicted, Shown | Search):
            broke = text.startswith('{"error":')  # it has more characters than are left
            budget["characters"] -= 0 if broke else len(text)
        if self._budget != budget or min(budget.values()) < 0:
            report("answer.budget", f"{self._budget} are left, and should be {budget}")
        over = self._state.over
        ends = over, not over and (broke or budget["steps"] <= 0)
        if (step.terminated, step.truncated) != ends:
            got = step.terminated, step.truncated
            report("answer.budget", f"terminated and truncated are {got}, and should be {ends}")

    def _check_result(
        self, call: SentCall, predicted: Any, result: dict[str, Any], cut: bool, report: Reporter
    ) -> None:
        """Check a result against that of the reference."""
        log, view = self._log, self._view
        if not call.tool and "error" not in result:
            report("leak.refusal", "a malformed call was answered")
        # A result that has more characters than are left is an error, and the end.
        too_long = cut and "error" in result
        if isinstance(predicted, Search):
            if not too_long:
                none = {} if result.get("hits") else {"message": ANY}
                compare(result, {"hits": ANY, **none}, report)
                searched: Any = predicted.view
                request = searched, predicted.query, predicted.k, predicted.offset
                check_hits(request, result.get("hits"), self._shared, report, MAX_TITLE)
            return
        shows = isinstance(predicted, Shown)
        expected = predicted.result if shows else predicted
        expected = parsed(expected if isinstance(expected, str) else encode(expected))
        log.counts["papers returned"] += len(predicted.papers) if shows else 0
        if str(expected.get("error")).startswith("no paper "):
            ids = [text for key, text in strings(call.arguments) if key in _IDS]
            log.counts["ids refused"] += 1
            log.refused.update(view.why_not(each)[0] for each in ids[-1:] if each not in view)
        if shows and too_long:
            expected = {"error": ANY}
        log.counts["texts compared"] += "text" in expected
        compare(result, expected, report)

    def _expose(self, result: dict[str, Any], report: Reporter) -> None:
        """Report all that a result shows of papers out of reach."""
        for check, what in self._shared.exposure.find(result, self._view, self._sent):
            report(check, what)

    def _compare_answers(self, report: Reporter) -> None:
        """Check the answers of an attack of several calls against each other."""
        attack, results = self._attack, [answer["result"] for answer in self._answers]
        if any("may still be written" in str(result.get("error")) for result in results):
            return  # the first of two equal texts may use the budget up
        if not attack.ids:
            whole, part = (result.get("hits") for result in results)
            if isinstance(whole, list) and isinstance(part, list):
                self._log.counts["pages compared"] += 1
                if whole[attack.offset :] != part:
                    where = f"from {attack.offset} on"
                    report("answer.page", f"{len(part)} hits, not those {where} of one search")
            return
        self._log.counts["decoys compared"] += 1
        hidden, decoy, other = (
            _by_path(answer | {"result": without_ids(answer["result"], paper_id)})
            for answer, paper_id in zip(self._answers, attack.ids, strict=True)
        )
        for name in hidden | decoy:
            value, expected = hidden.get(name, ()), decoy.get(name, ())
            if value != expected == other.get(name, ()):  # else it differs every time
                what = f"{name}={brief(value)} for {attack.ids[0]!r}, but {brief(expected)}"
                report("leak.decoy", f"{what} for {attack.ids[1]!r}")


def _by_path(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the leaves of an answer by the keys that lead to them; lists add no key.

    So a key that differs every time, such as a counter, excuses no other.
    """
    leaves: dict[str, Any] = {}
    for path, leaf in flat(answer):
        keys = ("[]" if isinstance(part, int) else f".{part}" for part in path)
        leaves.setdefault("".join(keys).removeprefix("."), []).append(leaf)
    return leaves


def named(report: Reporter, check: str) -> Reporter:
    """Return a function that reports every finding under one name."""
    return lambda _, what: report(check, what)


def compare(value: Mapping[str, Any], expected: Mapping[str, Any], report: Reporter) -> None:
    """Check that a dict has exactly the expected keys, with the expected values."""
    if "error" in value and "error" not in expected:
        report("answer.missing", f"refused: {value['error']}")
        return
    if "error" in expected and set(value) != {"error"}:
        hidden = "error" not in value and str(expected["error"]).startswith("no paper ")
        what = f"it is {brief(value)}, and should be refused alone: {expected['error']}"
        report("leak.paper" if hidden else "leak.refusal", what)
    elif set(value) != set(expected):
        report("answer.result", f"it has {sorted(value)}, and should have {sorted(expected)}")
    for name, known in expected.items():
        actual = value.get(name, known)
        same = actual == known and isinstance(actual, bool) == isinstance(known, bool)
        if known is not ANY and not same:
            kinds = {int: "answer.count", list: "answer.list"}
            check = _CHECKS.get(name) or kinds.get(type(known), "answer.text")
            report(check, f"{name}={brief(actual)}, and by the files {brief(known)}")


def check_hits(
    request: tuple[PlainView, str, int, int],
    hits: Any,
    state: AuditState,
    report: Reporter,
    longest: int | None = None,
) -> None:
    """Check the hits of a search, their order and, where there is a second BM25, their scores.

    A request is view, query, k and offset; `longest` is how many characters of a title are shown.
    """
    (view, query, k, offset), log, numbers = request, state.log, []
    if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
        report("answer.result", f"hits={brief(hits)} is no list of objects")
        return
    log.counts["papers returned"] += len(hits)
    for hit in hits:
        if (row := view.row(hit.get("id"))) is None:
            report(
                "leak.paper", f"{hit.get('id')!r} {view.why_not(hit.get('id'))[1]}, and was shown"
            )
            continue
        numbers.append(row.number)
        shown = {"id": row.id, "title": row.title[:longest], "date": row.date, "score": ANY}
        compare(hit, shown, report)
    if len(numbers) < len(hits):
        return
    scores = [hit.get("score") for hit in hits]
    if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
        report("answer.order", f"scores {scores!r}")
        return
    order = [(-score, number) for score, number in zip(scores, numbers, strict=True)]
    if order != sorted(order) or len(set(numbers)) < len(hits) or len(hits) > k:
        report("answer.order", f"{len(hits)} hits for k={k}: {order[:5]!r} ...")
    if scorer := state.scorers.get(view.engine):
        log.counts["rankings computed again"] += 1
        log.counts["scores compared"] += len(scores)
        if wrong := wrong_scores(scorer.scores(query, view), numbers, scores, offset, k):
            report("answer.score", wrong)


# What `info` may hold: nothing of the labels before the end, and at the end only figures.

END = {
    "survey", "reward_terms", "gold", "references", "references_total", "answers", "metrics",
    "digests", "seen",
}  # fmt: skip
"""Keys of the info of an episode that is over."""


def check_info(
    info: Mapping[str, Any],
    survey: StoredSurvey,
    over: bool,
    reward: float,
    answers: dict[str, Any],
    report: Reporter,
) -> None:
    """Check the info of a step: reward terms and, at the end, what was submitted and figures.

    `answers` maps each stage to what was submitted.
    """
    expected: dict[str, Any] = {"survey": survey.id, "reward_terms": ANY}
    if over:
        expected |= dict.fromkeys({"digests", "seen"} & info.keys(), ANY)  # where there are some
        expected |= {"gold": len(survey.gains), "references": len(survey.references)}
        expected |= {"references_total": survey.references_total, "answers": answers}
        expected |= {"metrics": ANY}
    compare(plain(info), expected, named(report, "leak.info"))
    terms = info.get("reward_terms")
    if not _are_numbers(terms) or not math.isclose(sum(terms.values()), reward, abs_tol=1e-12):  # type: ignore[union-attr]
        report("leak.info", f"reward_terms={terms!r} for the reward {reward!r}")
    if over and not _are_numbers(info.get("metrics")):
        report("leak.info", f"metrics={info.get('metrics')!r}")


def _are_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
