"""One audited episode: draws the actions, and checks everything that comes back."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from arena.corpus.digests import ShownDigests
from arena.errors import UnknownPaperError
from arena.papers import MAX_QUERY, MAX_TITLE
from arena.runs.episodes import PlayedStep
from arena.testing.actions import Schemas
from arena.testing.attacks import Attack, Attacker, SentCall, without_ids
from arena.testing.episodes import flat, plain
from arena.testing.exposure import Exposure
from arena.testing.files import Facts, StoredSurvey
from arena.testing.reference import Bm25, PlainView, wrong_scores
from arena.testing.report import AuditReport, Reporter, brief
from arena.testing.walk import parsed, strings
from arena.tools import Episode, Search, Shown, Tool, ToolError, answer_json, parse_action

PREDICTED = frozenset(
    (
        "search", "read", "references", "citations", "select", "submit", "organize", "write",
        "submit_report", "finish",
    )
)  # fmt: skip
"""Tools whose results follow from the view and the state of the episode alone.

The audit plays them over the reference view, too, and the results must be the same. Of any other
tool it checks what every tool must keep.
"""

ANY: Any = object()
"""Expected value of a key that must be there with any value."""

_BUDGET = ("steps", "searches", "reads", "characters")
_IDS = ("paper_id", "paper_ids", "papers")
_LEAKS = {
    "id": "hidden paper", "title": "title", "date": "date", "cutoff": "date", "error": "error",
    "message": "instruction",
}  # fmt: skip


class Kind(NamedTuple):
    """An environment to audit.

    Attributes:
        id: Gymnasium id.
        stages: (name, kind of answer) of the stages in order.
        instructions: The instruction of each stage.
        arguments: Arguments of the environment besides those of every audit.
        starts_with_references: Whether an episode starts with the references of the survey.
        vector: Number of environments in a vector; 0 for a scalar one.
    """

    id: str
    stages: tuple[tuple[str, str], ...]
    instructions: tuple[str, ...]
    arguments: Mapping[str, Any] = {}
    starts_with_references: bool = False
    vector: int = 0

    @property
    def same_step(self) -> bool:
        """Whether a new episode begins with the step that ends the old one."""
        return self.arguments.get("autoreset_mode") == "SameStep"

    @property
    def name(self) -> str:
        """The id and what distinguishes this environment from others of that id."""
        words = [f"{name}={value!r}" for name, value in self.arguments.items()]
        return " ".join([self.id, *[f"vector of {self.vector}"] * bool(self.vector), *words])


class Target(NamedTuple):
    """What is known of an environment under attack.

    Attributes:
        kind: The environment.
        tools: Its tools by name.
        schemas: The schemas of their arguments.
        malformed: Actions that it must refuse.
        accepts: Whether an action can be sent to it.
    """

    kind: Kind
    tools: Mapping[str, Tool]
    schemas: Schemas
    malformed: Sequence[Any]
    accepts: Callable[[Any], bool] = lambda _: True

    @property
    def unproven(self) -> frozenset[str]:
        """Names of the tools whose results are not predicted."""
        return frozenset(self.tools.keys() - PREDICTED)


@dataclass
class Shared:
    """What all episodes and views of one audit share.

    Attributes:
        facts: The files.
        retrievers: Engines; the first is the environments' own.
        scorers: Second BM25 of the engines that are one.
        log: Takes findings.
        exposure: Finds hidden papers in results, and counts references in them.
        surveys: Ids of surveys to play, without end.
        advance: Called with a number of actions that are done.
    """

    facts: Facts
    retrievers: tuple[str, ...]
    scorers: Mapping[str, Bm25]
    log: AuditReport
    exposure: Exposure
    surveys: Iterator[str]
    advance: Callable[[int], Any]


class AuditedEpisode:
    """Draws actions for one episode and checks each answer.

    Args:
        target: The environment.
        survey_id: Survey of the episode.
        shared: What all episodes share.
        rng: Source of randomness.

    Attributes:
        survey: The survey.
        over: Whether the episode has ended.
    """

    def __init__(self, target: Target, survey_id: str, shared: Shared, rng: random.Random) -> None:
        kind, facts = target.kind, shared.facts
        self.survey, self.over = facts.surveys[survey_id], False
        self._target, self._shared, self._log = target, shared, shared.log
        self._where = f"{kind.name}, survey {survey_id!r} before {self.survey.date}"
        views = {
            name: PlainView(facts, self.survey.date, (survey_id,), name)
            for name in shared.retrievers
        }
        self._view = view = views[shared.retrievers[0]]
        # The same episode over the reference; what it answers is expected of the environment.
        self._state = Episode(view, views.__getitem__, kind.stages, kind.instructions, {})  # type: ignore[arg-type]
        self._certain = True  # until a tool that is not predicted may have changed the state
        self._attacker = Attacker(
            view,
            rng,
            self.survey,
            target.schemas,
            target.unproven,
            target.malformed,
            target.accepts,
        )
        # Ids and headings that are too long to stand in a text by chance.
        ids = [row["reference"] for row in self.survey.references]
        self._labels = [paper_id for paper_id in ids if len(paper_id) > 4]
        self._labels += [text for text in self.survey.headings if len(text) > 12]
        self._labels.append(survey_id)
        self._sent, self._shown = {self.survey.title.lower()[:MAX_QUERY]}, set[str]()
        self._attack, self._waiting = Attack(()), list[SentCall]()
        self._answers: list[tuple[dict[str, Any], dict[str, Any]]] = []
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
        self._log.surveys.add(self.survey.id)
        self._log.cutoffs.add(self.survey.date)
        report, expected = self.reporter("reset()"), {"message": self._state.instructions[0]}
        result = self._observed(observation, report)
        compare(plain(info), {"survey": self.survey.id}, named(report, "info"))
        if self._target.kind.starts_with_references:
            rows = [self._view.row(row["reference"]) for row in self.survey.references]
            ids = [row.id for row in sorted(filter(None, rows))][:1_000]  # by their dates
            expected["references"] = self._state.listed(ids)  # type: ignore[assignment]
            self._state.given = frozenset(ids)
            self._log.counts["papers returned"] += len(ids)
        if stored := self._shared.facts.digests.get(self._target.kind.arguments.get("show", "")):
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
        log.environments[self._target.kind.name] += 1
        before = self._budget
        predicted = self._predicted(call, before, report)
        result = self._observed(step.observation, report)
        self.over = step.terminated or step.truncated
        if predicted is None:
            self._certain &= "error" in result
            self._check_unproven(call, result, report)
        else:
            self._check_predicted(call, predicted, result, step.truncated, report)
        if self._certain and (stage := step.observation.get("stage")) != self._state.stage:
            report("observation", f"stage={stage!r}")
        self._expose(result, report)
        if step.truncated:
            self._state.keep_draft()
        answers = {name: answer_json(answer) for name, answer in self._state.answers.items()}
        check_info(
            step.info,
            self.survey,
            self.over,
            step.reward,
            answers if self._certain else ANY,
            report,
        )
        # What must not depend on whether a paper with a hidden id exists later: each key of the
        # result for itself, so that one that differs every time, such as a counter, excuses none.
        spent = {name: before[name] - left for name, left in self._budget.items() if name in before}
        whole = {"spent": spent, "reward": step.reward}
        whole |= {"terminated": step.terminated, "truncated": step.truncated}
        self._answers.append((result, whole))
        self._compare_answers(report)

    def crash(self, error: Exception) -> None:
        """Report an exception."""
        self.reporter(brief(self._call.action))("crash", f"{type(error).__name__}: {error}")

    def reporter(self, action: str) -> Reporter:
        """Return a function that takes findings of this episode."""
        return lambda check, what: self._log.add(check, self._where, action, what)

    def check_render(self, rendered: object, observation: Mapping[str, Any]) -> None:
        """Check that ``render()`` names no label besides those in the observation."""
        for label in self._labels:
            if label in str(rendered) and label not in str(observation.get("result")):
                self.reporter("render()")("render", f"it shows {label!r}")

    def _observed(self, observation: Mapping[str, Any], report: Reporter) -> dict[str, Any]:
        """Check an observation; return the result in it."""
        topic = self.survey.title.lower()[:MAX_QUERY]
        expected = {"topic": topic, "cutoff": self.survey.date, "stage": ANY, "result": ANY}
        compare(observation, expected | {"budget": ANY}, named(report, "observation"))
        budget = observation.get("budget")
        numbers = isinstance(budget, Mapping) and all(
            isinstance(left, int | np.integer) for left in budget.values()
        )
        self._budget = {name: int(left) for name, left in budget.items()} if numbers else {}  # type: ignore[union-attr]
        writes = "report" in dict(self._target.kind.stages).values()
        if set(self._budget) != {*_BUDGET, *["written"] * writes}:
            report("observation", f"budget={brief(budget)}")
        result = parsed(observation.get("result", ""))
        if not isinstance(result, dict):
            report("result", f"it is no object of JSON: {brief(observation.get('result'))}")
            return {}
        return result

    def _predicted(self, call: SentCall, budget: dict[str, int], report: Reporter) -> Any:
        """Return what a call returns over the reference, or None if it is not predicted."""
        if call.tool in self._target.unproven:
            return None
        self._state.budget = dict(budget)
        parsed_call = parse_action(call.action, self._target.tools)
        if isinstance(parsed_call, str):
            return {"error": parsed_call}
        try:
            return parsed_call.tool.function(self._state, **parsed_call.arguments)
        except (ToolError, UnknownPaperError) as error:
            return {"error": str(error)}
        except Exception as error:
            report("crash", f"over the reference view: {type(error).__name__}: {error}")
            return None

    def _check_predicted(
        self, call: SentCall, predicted: Any, result: dict[str, Any], cut: bool, report: Reporter
    ) -> None:
        """Check a result against that of the reference."""
        log, view = self._log, self._view
        if not call.tool and "error" not in result:
            report("error", "a malformed call was answered")
        if isinstance(predicted, Search):
            if not (cut and "error" in result):  # it has more characters than are left
                self._check_search(predicted, result, report)
            return
        shows = isinstance(predicted, Shown)
        expected = predicted.result if shows else predicted
        log.counts["papers returned"] += len(predicted.papers) if shows else 0
        if str(expected.get("error")).startswith("no paper "):
            ids = [text for key, text in strings(call.arguments) if key in _IDS]
            paper_id = [each for each in ids if each not in view][-1]
            log.counts["ids refused"] += 1
            log.refused[view.why_not(paper_id)[0]] += 1
        if shows and cut and "error" in result:
            expected = {"error": ANY}
        if shows or self._certain:
            log.counts["texts compared"] += "text" in expected
            compare(result, expected, report)

    def _check_search(self, search: Search, result: dict[str, Any], report: Reporter) -> None:
        """Check the hits of a search."""
        compare(result, {"hits": ANY} | ({} if result.get("hits") else {"message": ANY}), report)
        view: Any = search.view
        request = view, search.query, search.k, search.offset
        check_hits(request, result.get("hits"), self._shared, report, MAX_TITLE)

    def _expose(self, result: dict[str, Any], report: Reporter) -> None:
        """Report all that a result shows of papers out of reach."""
        exposure = self._shared.exposure
        for check, what in exposure.find(result, self._view, self._sent):
            report(check, what)
        if self._target.unproven and "error" not in result:
            self._shown.update(*exposure.ids_in_reach(result, self._view).values())

    def _check_unproven(self, call: SentCall, result: dict[str, Any], report: Reporter) -> None:
        """Check a result that is not predicted for labels and for counts of later papers."""
        exposure, facts = self._shared.exposure, (self.survey, self._view)
        for check, what in exposure.headings(result, *facts, self._sent):
            report(check, what)
        if "error" not in result:
            texts = [text for _, text in strings(call.arguments)]
            scorer = self._shared.scorers.get(self._view.engine)
            exposure.count_numbers(call.tool, texts, result, self._view, scorer)
            if not self._target.kind.starts_with_references:
                exposure.count_references(call.tool, result, *facts)
        said = [str(value) for name, value in result.items() if name in ("error", "message")]
        known = [brief([call.action, call.arguments], 100_000), *self._sent, *self._shown]
        for label in self._labels if said else ():
            if any(label in text for text in said) and not any(label in text for text in known):
                report("error", f"{said!r} names the label {label!r}")

    def _compare_answers(self, report: Reporter) -> None:
        """Check the answers of an attack of several calls against each other."""
        attack, answers = self._attack, self._answers
        if len(attack.calls) < 2 or len(answers) < len(attack.calls):
            return
        if any("may still be written" in str(result.get("error")) for result, _ in answers):
            return  # the first of two equal texts may use the budget up
        if not attack.ids:
            whole, part = (result.get("hits") for result, _ in answers)
            if isinstance(whole, list) and isinstance(part, list):
                self._log.counts["pages compared"] += 1
                if whole[attack.offset :] != part:
                    report("paging", f"{len(part)} hits, not hits {attack.offset} on of one search")
            return
        self._log.counts["twins compared"] += 1
        one, two, *more = (
            _by_path(without_ids(result, paper_id)) | whole
            for (result, whole), paper_id in zip(answers, attack.ids, strict=True)
        )
        last = self._budget.get("steps") == 0 and not more  # which ends it whatever it is
        for name in one | two:
            if last and name in ("reward", "terminated", "truncated"):
                continue
            value, other = one.get(name, ()), two.get(name, ())
            stable = not more or more[0].get(name, ()) == other  # else it differs every time
            if value != other and stable:
                what = f"{name}={brief(value)} for {attack.ids[0]!r}, but {brief(other)}"
                report("indistinguishable", f"{what} for {attack.ids[1]!r}")


def _by_path(result: dict[str, Any]) -> dict[str, Any]:
    """Return the leaves of a result by the keys that lead to them; lists add no key."""
    leaves: dict[str, Any] = {}
    for path, leaf in flat(result):
        keys = ("[]" if isinstance(part, int) else f".{part}" for part in path)
        leaves.setdefault("".join(("result", *keys)), []).append(leaf)
    return leaves


def named(report: Reporter, leak: str) -> Reporter:
    """Return a function that reports every finding under one name."""
    return lambda _, what: report(leak, what)


def compare(value: Mapping[str, Any], expected: Mapping[str, Any], report: Reporter) -> None:
    """Check that a dict has exactly the expected keys, with the expected values."""
    if "error" in value and "error" not in expected:
        report("missing paper", f"refused: {value['error']}")
        return
    if "error" in expected and set(value) != {"error"}:
        hidden = "error" not in value and str(expected["error"]).startswith("no paper ")
        what = f"it is {brief(value)}, and should be refused alone: {expected['error']}"
        report("hidden paper" if hidden else "error", what)
    elif set(value) != set(expected):
        report("result", f"it has {sorted(value)}, and should have {sorted(expected)}")
    for name, known in expected.items():
        actual = value.get(name, known)
        same = actual == known and isinstance(actual, bool) == isinstance(known, bool)
        if known is not ANY and not same:
            kinds = {int: "count", list: "list"}
            leak = _LEAKS.get(name) or kinds.get(type(known), "text")
            report(leak, f"{name}={brief(actual)}, and by the files {brief(known)}")


def check_hits(
    request: tuple[PlainView, str, int, int],
    hits: Any,
    shared: Shared,
    report: Reporter,
    longest: int | None = None,
) -> None:
    """Check the hits of a search, their order and, where there is a second BM25, their scores.

    Args:
        request: View, query, k and offset.
        hits: Dicts with the id, title, date and score of each hit.
        shared: What the audit shares.
        report: Takes findings.
        longest: Characters of a title that are shown; None for all.
    """
    (view, query, k, offset), log, numbers = request, shared.log, []
    if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
        report("result", f"hits={brief(hits)} is no list of objects")
        return
    log.counts["papers returned"] += len(hits)
    for hit in hits:
        if (row := view.row(hit.get("id"))) is None:
            report(
                "hidden paper", f"{hit.get('id')!r} {view.why_not(hit.get('id'))[1]}, and was shown"
            )
            continue
        numbers.append(row.number)
        shown = {"id": row.id, "title": row.title[:longest], "date": row.date, "score": ANY}
        compare(hit, shown, report)
    if len(numbers) < len(hits):
        return
    scores = [hit.get("score") for hit in hits]
    if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
        report("order of hits", f"scores {scores!r}")
        return
    order = [(-score, number) for score, number in zip(scores, numbers, strict=True)]
    if order != sorted(order) or len(set(numbers)) < len(hits) or len(hits) > k:
        report("order of hits", f"{len(hits)} hits for k={k}: {order[:5]!r} ...")
    if scorer := shared.scorers.get(view.engine):
        log.counts["rankings computed again"] += 1
        log.counts["scores compared"] += len(scores)
        if wrong := wrong_scores(scorer.scores(query, view), numbers, scores, offset, k):
            report("score", wrong)


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
    answers: Any,
    report: Reporter,
) -> None:
    """Check the info of a step: reward terms and, at the end, what was submitted and figures.

    Args:
        info: Info of the step.
        survey: Survey of the episode.
        over: Whether it was the last step.
        reward: Reward of the step.
        answers: Stage -> the answer that was submitted; `ANY` if it is not known.
        report: Takes findings.
    """
    expected: dict[str, Any] = {"survey": survey.id, "reward_terms": ANY}
    if over:
        expected |= dict.fromkeys({"digests", "seen"} & info.keys(), ANY)  # where there are some
        expected |= {"gold": len(survey.gains), "references": len(survey.references)}
        expected |= {"references_total": survey.references_total, "answers": answers}
        expected |= {"metrics": ANY}
    compare(plain(info), expected, named(report, "info"))
    terms = info.get("reward_terms")
    if not _are_numbers(terms) or not math.isclose(sum(terms.values()), reward, abs_tol=1e-12):  # type: ignore[union-attr]
        report("info", f"reward_terms={terms!r} for the reward {reward!r}")
    if over and not _are_numbers(info.get("metrics")):
        report("info", f"metrics={info.get('metrics')!r}")


def _are_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
