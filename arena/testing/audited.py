"""One audited episode: draws the actions, and checks everything that comes back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from arena.runs.episodes import PlayedStep
from arena.testing.actions import Attacker, Probe, Schemas, SentCall, without_ids
from arena.testing.bm25 import Bm25
from arena.testing.episodes import flat
from arena.testing.exposure import Exposure
from arena.testing.files import Facts, StoredPaper
from arena.testing.oracles import (
    ANY,
    ORACLES,
    Papers,
    ToolOracle,
    check_info,
    compare,
    listing,
)
from arena.testing.report import CheckError, Report, Reporter, brief
from arena.testing.walk import parsed, strings, walk

_OBSERVATION = {"topic", "cutoff", "stage", "result", "budget"}
_BUDGET = {"steps", "searches", "reads", "characters"}
_TOPIC = 10_000


class Kind(NamedTuple):
    """An environment to audit.

    Attributes:
        id: Gymnasium id.
        stages: (name, ``ranking`` or ``mind_map``) of the stages in order.
        arguments: Arguments of the environment besides those of every audit.
        starts_with_references: Whether an episode starts with the references of the survey.
        vector: Number of environments in a vector; 0 for a scalar one.
    """

    id: str
    stages: tuple[tuple[str, str], ...]
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
        instructions: (environment, stage) -> instructions, the same for all surveys.
    """

    facts: Facts
    retrievers: tuple[str, ...]
    scorers: Mapping[str, Bm25]
    log: Report
    exposure: Exposure
    surveys: Iterator[str]
    advance: Callable[[int], Any]
    instructions: dict[tuple[str, str], set[str]] = field(default_factory=dict)


class AuditedEpisode:
    """Draws actions for one episode and checks each answer.

    Args:
        kind: The environment.
        tools: Schemas of its tools.
        survey_id: Survey of the episode.
        shared: What all episodes share.
        rng: Source of randomness.
    """

    def __init__(
        self, kind: Kind, tools: Schemas, survey_id: str, shared: Shared, rng: random.Random
    ) -> None:
        self.survey, self.over, self._begun = shared.facts.surveys[survey_id], False, False
        self._kind, self._shared, self._log = kind, shared, shared.log
        self._where = f"{kind.name}, survey {survey_id!r} before {self.survey.date}"
        self._reach = shared.facts.reach(survey_id)
        self._unproven = frozenset(tools.keys() - ORACLES.keys())
        self._attacker = Attacker(self._reach, self.survey, tools, self._unproven, rng)
        self._papers = Papers(self._reach, shared.scorers, shared.retrievers[0], self._log)
        given = self._begins_with() if kind.starts_with_references else []
        show = kind.arguments.get("show")
        self._oracle = ToolOracle(self._papers, kind.stages, [p.id for p in given], show)
        self._further = ("digests",) if show else ()
        # Ids and headings that are too long to stand in a text by chance.
        ids = [row["reference"] for row in self.survey.references]
        self._labels = [paper_id for paper_id in ids if len(paper_id) > 4]
        self._labels += [text for text in self.survey.headings if len(text) > 12]
        self._labels.append(survey_id)
        self._sent, self._shown = {self.survey.title.lower()[:_TOPIC]}, set[str]()
        self._probe, self._waiting = Probe("single", ()), list[SentCall]()
        self._answers: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._call = SentCall(None)
        self._budget: dict[str, int] = {}

    def act(self, observation: Any) -> Any:
        """Return the action to send."""
        if not self._waiting:
            self._probe, self._answers = self._attacker.probe(), []
            self._waiting = list(self._probe.calls)
        self._call = self._waiting.pop(0)
        self._sent.update(text for _, text in strings(self._call.arguments))
        return self._call.action

    def take(self, step: PlayedStep) -> None:
        """Check what the reset returned, and then every step."""
        if self._begun:
            self._step(step)
        else:
            self._begun = True
            self._begin(step)

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

    def _step(self, step: PlayedStep) -> None:
        """Check what a step returned."""
        call, report, log = self._call, self.reporter(brief(self._call.action)), self._log
        log.counts["actions"] += 1
        log.tools[call.tool or "malformed"] += 1
        log.environments[self._kind.name] += 1
        before = self._budget
        result = self._observed(step.observation, report)
        self.over = step.terminated or step.truncated
        predicted = self._oracle.check(call, result, step.truncated, report)
        stage = str(step.observation.get("stage"))
        self._oracle.follow(stage)
        if stage != self._oracle.stage:
            report("observation", f"stage={stage!r}")
        self._expose(result, report)
        self._check_texts(result, predicted, report)
        submitted = self._oracle.submitted if self._oracle.certain else None
        check_info(step.info, self.survey, self.over, step.reward, submitted, report, self._further)
        # What must not depend on whether a paper with a hidden id exists later: each key of the
        # result for itself, so that one that differs every time, such as a counter, excuses none.
        spent = {name: before[name] - left for name, left in self._budget.items() if name in before}
        whole = {"spent": spent, "reward": step.reward}
        whole |= {"terminated": step.terminated, "truncated": step.truncated}
        self._answers.append((result, whole))
        self._compare(report)

    def _begin(self, step: PlayedStep) -> None:
        """Check what a reset returned."""
        self._log.surveys.add(self.survey.id)
        self._log.cutoffs.add(self.survey.date)
        report = self.reporter("reset()")
        result = self._observed(step.observation, report)
        if step.observation.get("stage") != self._oracle.stage:
            report("observation", f"stage={step.observation.get('stage')!r}")
        if dict(step.info) != {"survey": self.survey.id}:
            report("info", f"info={brief(step.info)}")
        self._check_texts(result, True, report)
        names = ("message", "references") if self._kind.starts_with_references else ("message",)
        compare(result, dict.fromkeys(names, ANY), report, "the first result")
        self._expose(result, report)
        if self._kind.starts_with_references:
            self._papers.shown(result.get("references"), report)
            if result.get("references") != listing(self._begins_with()):
                what = "the references are not those in reach in the order of their dates"
                report("list", what)

    def _begins_with(self) -> list[StoredPaper]:
        """Return the survey's references in reach, in the order of their dates."""
        papers = [self._reach.paper(row["reference"]) for row in self.survey.references]
        in_reach = sorted({paper.number: paper for paper in papers if paper}.items())[:1_000]
        return [paper for _, paper in in_reach]

    def _observed(self, observation: Mapping[str, Any], report: Reporter) -> dict[str, Any]:
        """Check an observation; return the result in it."""
        if set(observation) != _OBSERVATION:
            report("observation", f"it has the keys {sorted(observation)}")
        expected = {"topic": self.survey.title.lower()[:_TOPIC], "cutoff": self.survey.date}
        for name, value in expected.items():
            if observation.get(name) != value:
                actual = observation.get(name)
                report("observation", f"{name}={actual!r}, and should be {value!r}")
        budget = observation.get("budget")
        numbers = isinstance(budget, Mapping) and all(
            isinstance(left, int | np.integer) for left in budget.values()
        )
        self._budget = {name: int(left) for name, left in budget.items()} if numbers else {}  # type: ignore[union-attr]
        if set(self._budget) != _BUDGET:
            report("observation", f"budget={brief(budget)}")
        result = parsed(observation.get("result", ""))
        if not isinstance(result, dict):
            report("result", f"it is no object of JSON: {brief(observation.get('result'))}")
            return {}
        return result

    def _expose(self, result: dict[str, Any], report: Reporter) -> None:
        """Report all that a result shows of papers out of reach."""
        for check, what in self._shared.exposure.find(result, self._reach, self._sent):
            report(check, what)

    def _check_texts(self, result: dict[str, Any], predicted: bool, report: Reporter) -> None:
        """Check errors, messages and, if no oracle predicts the result, all of it for labels."""
        call, exposure = self._call, self._shared.exposure
        if self._unproven and "error" not in result:
            self._shown.update(*exposure.ids_in_reach(result, self._reach).values())
        if not predicted:
            for check, what in exposure.headings(result, self.survey, self._reach, self._sent):
                report(check, what)
            texts = [text for _, text in strings(call.arguments)]
            scorer = self._shared.scorers.get(self._shared.retrievers[0])
            if "error" not in result:
                exposure.count_numbers(call.tool, texts, result, self._reach, scorer)
            if "error" not in result and not self._kind.starts_with_references:
                exposure.count_references(call.tool, result, self.survey, self._reach)
        elif "message" in result:  # an instruction is the same for every survey
            searched = "hits" in result  # either nothing matches, or nothing more does
            place = self._kind.id, f"{call.tool} {self._oracle.stage}"
            place = ("search", "") if searched else place
            known = self._shared.instructions.setdefault(place, set())
            if len(known) <= searched:
                known.add(str(result["message"]))
            elif str(result["message"]) not in known:
                what = f"{result['message']!r} differs from those before: {sorted(known)}"
                report("instruction", what)
        texts = [str(value) for name, value in result.items() if name in ("error", "message")]
        sent = [brief([call.action, call.arguments], 100_000)] if texts else []
        sent += [] if predicted else [*self._sent, *self._shown]
        for label in self._labels if texts else ():
            if any(label in text for text in texts) and not any(label in text for text in sent):
                report("error", f"{texts!r} names the label {label!r}")

    def _compare(self, report: Reporter) -> None:
        """Check the answers of a probe against each other."""
        probe, answers = self._probe, self._answers
        if probe.kind == "single" or len(answers) < len(probe.calls):
            return
        if probe.kind == "paged":
            offset = probe.calls[1].arguments["offset"]
            whole, part = (result.get("hits") for result, _ in answers)
            if isinstance(whole, list) and isinstance(part, list):
                self._log.counts["pages compared"] += 1
                if whole[offset:] != part:
                    report("paging", f"{len(part)} hits, not hits {offset} on of one search")
            return
        self._log.counts["twins compared"] += 1
        one, two, *more = (
            _by_path(without_ids(result, paper_id)) | whole
            for (result, whole), paper_id in zip(answers, probe.ids, strict=True)
        )
        last = self._budget.get("steps") == 0 and not more  # which ends it whatever it is
        for name in one | two:
            if last and name in ("reward", "terminated", "truncated"):
                continue
            value, other = one.get(name, ()), two.get(name, ())
            stable = not more or more[0].get(name, ()) == other  # else it differs every time
            if value != other and stable:
                what = f"{name}={brief(value)} for {probe.ids[0]!r}, but {brief(other)}"
                report("indistinguishable", f"{what} for {probe.ids[1]!r}")


def _by_path(result: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the leaves of a result by the keys that lead to them; lists add no key."""
    leaves: dict[str, list[Any]] = {}
    for path, leaf in flat(result):
        keys = ("[]" if isinstance(part, int) else f".{part}" for part in path)
        leaves.setdefault("".join(("result", *keys)), []).append(leaf)
    return leaves


def check_attributes(env: Any, facts: Facts, headings: frozenset[str], report: Reporter) -> int:
    """Check that public attributes lead to no id of a paper, no heading and no object of labels.

    Args:
        env: Environment that was reset.
        facts: The files; the ids of surveys are no labels, since episodes are of them.
        headings: Headings of mind-maps.
        report: Takes findings.

    Returns:
        How many values were checked.
    """
    count = 0
    try:
        for path, value in walk(env, "env", corpora=True):
            count += 1
            if isinstance(value, str) and (
                value in headings or (value in facts.by_id and value not in facts.surveys)
            ):
                report("attribute", f"{path} is {value!r}")
    except CheckError as error:
        report("attribute", str(error))
    return count
