"""One audited episode: draws the actions, and checks everything that comes back."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.testing.actions import Attacker, Call, Probe, Schemas
from arena.testing.bm25 import Bm25
from arena.testing.exposure import Exposure
from arena.testing.files import Facts
from arena.testing.hostile import without_ids
from arena.testing.oracles import (
    ORACLES,
    Oracle,
    Papers,
    check_end_info,
    check_step_info,
    compare,
    listing,
    only_error,
    with_keys,
)
from arena.testing.report import CheckError, Report, Reporter, brief
from arena.testing.unproven import Headings, References
from arena.testing.walk import label_type, parsed, strings, walk

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


class Shared(NamedTuple):
    """What all episodes of one audit share.

    Attributes:
        facts: The files.
        exposure: Finds hidden papers in results.
        retrievers: Engines; the first is the environments' own.
        scorers: Second BM25 of the engines that are one.
        instructions: (environment, stage) -> instructions, the same for all surveys.
        references: Counts the references that tools without an oracle show.
        log: Takes findings.
    """

    facts: Facts
    exposure: Exposure
    retrievers: tuple[str, ...]
    scorers: Mapping[str, Bm25]
    instructions: dict[tuple[str, str], set[str]]
    references: References
    log: Report


class Step(NamedTuple):
    """What an environment returned; `info` as that of the scalar environment."""

    observation: Mapping[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]


class _Answer(NamedTuple):
    """What is compared between the answers to two actions."""

    result: dict[str, Any]
    spent: dict[str, int]
    left: dict[str, int]
    step: Step


class Episode:
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
        self.survey, self.over = shared.facts.surveys[survey_id], False
        self._kind, self._shared, self._log = kind, shared, shared.log
        self._where = f"{kind.name}, survey {survey_id!r} before {self.survey.date}"
        self._reach = shared.facts.reach(survey_id)
        self._unproven = frozenset(tools.keys() - ORACLES.keys())
        self._attacker = Attacker(self._reach, self.survey, tools, self._unproven, rng)
        self._headings = Headings(self.survey, self._reach, shared.exposure)
        self._shown: set[str] = set()
        self._papers = Papers(self._reach, shared.scorers, shared.retrievers[0], self._log)
        self._oracle = Oracle(self._papers, kind.stages)
        # Ids and headings that are too long to stand in a text by chance.
        self._labels = [reference.id for reference in self.survey.references]
        self._labels = [paper_id for paper_id in self._labels if len(paper_id) > 4]
        self._labels += [text for text in self.survey.headings if len(text) > 12]
        self._labels.append(survey_id)
        self._sent = {self.survey.title.lower()[:_TOPIC]}
        self._waiting: list[Call] = []
        self._probe = Probe("single", ())
        self._answers: list[_Answer] = []
        self._call = Call(None, "", {})
        self._budget: dict[str, int] = {}

    def begin(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Check what a reset returned."""
        self._log.surveys.add(self.survey.id)
        self._log.cutoffs.add(self.survey.date)
        report = self.reporter("reset()")
        result = self._observed(observation, report)
        if dict(info) != {"survey": self.survey.id}:
            report("info", f"info={brief(info)}")
        self._check_instruction(result, report)
        names = ("message", "references") if self._kind.starts_with_references else ("message",)
        compare(result, with_keys(*names), report, "the first result")
        if not self._kind.starts_with_references:
            self._expose(result, report, texts=False)
            return
        papers = [self._reach.paper(reference.id) for reference in self.survey.references]
        in_reach = sorted({paper.number: paper for paper in papers if paper}.items())[:1_000]
        self._papers.listed(result.get("references"), report)
        if result.get("references") != listing([paper for _, paper in in_reach]):
            report("list", "the references are not those in reach in the order of their dates")

    def next(self) -> Any:
        """Return the action to send."""
        if not self._waiting:
            self._probe, self._answers = self._attacker.probe(), []
            self._waiting = list(self._probe.calls)
        self._call = self._waiting.pop(0)
        self._sent.update(text for _, text in strings(self._call.arguments))
        return self._call.action

    def take(self, step: Step) -> None:
        """Check what a step returned."""
        call, report = self._call, self.reporter(brief(self._call.action))
        self._log.counts["actions"] += 1
        self._log.tools[call.tool or "malformed"] += 1
        self._log.environments[self._kind.name] += 1
        before = self._budget
        result = self._observed(step.observation, report, check_stage=False)
        spent = {name: before[name] - left for name, left in self._budget.items() if name in before}
        self.over = step.terminated or step.truncated
        predicted = True
        if not call.tool:
            if "error" not in result:
                report("error", "a malformed call was answered")
            only_error(result, report)
        else:
            predicted = self._oracle.check(call, result, step.truncated, report)
        stage = step.observation.get("stage")
        self._oracle.follow(str(stage))
        if stage != self._oracle.stage:
            report("observation", f"stage={stage!r}")
        if predicted:
            self._check_instruction(result, report)
            self._check_unlabelled(result, call, report)
            result_text = {k: v for k, v in result.items() if k in ("error", "message", "repairs")}
            self._expose(result_text, report, texts=False)
        else:
            self._expose(result, report)
            self._check_unproven(result, call, report)
        check_step_info(step.info, step.reward, self.survey, self.over, report)
        if self.over:
            submitted = self._oracle.submitted if self._oracle.certain else None
            check_end_info(step.info, self.survey, submitted, report)
        self._compare(_Answer(result, spent, self._budget, step), report)

    def crash(self, error: Exception) -> None:
        """Report an exception."""
        self.reporter(brief(self._call.action))("crash", f"{type(error).__name__}: {error}")

    def reporter(self, action: str) -> Reporter:
        """Return a function that takes findings of this episode."""
        return lambda check, what: self._log.add(check, self._where, action, what)

    def check_render(self, env: Any, step: Step) -> None:
        """Check that ``render()`` names no label besides those in the observation."""
        rendered, result = env.render(), str(step.observation.get("result"))
        for label in self._labels:
            if isinstance(rendered, str) and label in rendered and label not in result:
                self.reporter("render()")("render", f"it shows {label!r}")

    def _observed(
        self, observation: Mapping[str, Any], report: Reporter, check_stage: bool = True
    ) -> dict[str, Any]:
        """Check an observation; return the result in it."""
        if set(observation) != _OBSERVATION:
            report("observation", f"it has the keys {sorted(observation)}")
        expected = {"topic": self.survey.title.lower()[:_TOPIC], "cutoff": self.survey.date}
        if check_stage:
            expected["stage"] = self._oracle.stage
        for name, value in expected.items():
            if observation.get(name) != value:
                actual = observation.get(name)
                report("observation", f"{name}={actual!r}, and should be {value!r}")
        budget = observation.get("budget")
        numbers = isinstance(budget, Mapping) and all(
            isinstance(left, int | np.integer) for left in budget.values()
        )
        if not numbers or set(budget) != _BUDGET:  # type: ignore[arg-type]
            report("observation", f"budget={brief(budget)}")
        self._budget = {name: int(left) for name, left in budget.items()} if numbers else {}  # type: ignore[union-attr]
        result = parsed(observation.get("result", ""))
        if not isinstance(result, dict):
            report("result", f"it is no object of JSON: {brief(observation.get('result'))}")
            return {}
        if self._unproven and "error" not in result:
            ids = self._shared.exposure.ids_in_reach(result, self._reach)
            self._shown.update(*ids.values())
        return result

    def _expose(self, result: Any, report: Reporter, texts: bool = True) -> None:
        """Report all that a result shows of papers out of reach."""
        for check, what in self._shared.exposure.find(result, self._reach, self._sent, texts):
            report(check, what)

    def _check_instruction(self, result: Mapping[str, Any], report: Reporter) -> None:
        """Check that an instruction is the same for every survey."""
        if "message" not in result:
            return
        searched = "hits" in result  # either nothing matches, or nothing more does
        place = self._kind.id, f"{self._call.tool} {self._oracle.stage}"
        known = self._shared.instructions.setdefault(("search", "") if searched else place, set())
        message = str(result["message"])
        if message not in known and len(known) > searched:
            report("instruction", f"{message!r} differs from those before: {sorted(known)}")
        else:
            known.add(message)

    def _check_unlabelled(self, result: Mapping[str, Any], call: Call, report: Reporter) -> None:
        """Check that an error or message names no label that the agent has not sent."""
        texts = [str(value) for name, value in result.items() if name in ("error", "message")]
        sent = brief([call.action, call.arguments], 100_000) if texts else ""
        for text in texts:
            for label in self._labels:
                if label in text and label not in sent:
                    report("error", f"{text!r} names the label {label!r}")

    def _check_unproven(self, result: Mapping[str, Any], call: Call, report: Reporter) -> None:
        """Check a result that no oracle predicts for labels of the survey."""
        for check, what in self._headings.find(result, self._sent):
            report(check, what)
        ids = self._shared.exposure.ids_in_reach(result, self._reach)
        if "error" not in result:
            if not self._kind.starts_with_references:
                self._shared.references.add(call.tool, ids, self.survey, self._reach)
            return
        for paper_id in sorted(set().union(*ids.values()) & self.survey.gains.keys() - self._shown):
            if not any(paper_id in text for text in self._sent):
                report("error", f"{result['error']!r} names the reference {paper_id!r}")

    def _compare(self, answer: _Answer, report: Reporter) -> None:
        """Check the answers of a probe against each other."""
        self._answers.append(answer)
        probe, answers = self._probe, self._answers
        if probe.kind == "single" or len(answers) < len(probe.calls):
            return
        if probe.kind == "paged":
            offset = probe.calls[1].arguments["offset"]
            whole, part = (each.result.get("hits") for each in answers)
            if isinstance(whole, list) and isinstance(part, list):
                self._log.counts["pages compared"] += 1
                if whole[offset:] != part:
                    report("paging", f"{len(part)} hits, not hits {offset} on of one search")
            return
        self._log.counts["twins compared"] += 1
        (hidden, twin, *_), (_, second, *more) = probe.ids, answers
        aspects = [self._aspects(*pair) for pair in zip(answers, probe.ids, strict=True)]
        last = second.left.get("steps") == 0  # the last step ends the episode whatever it is
        for name in dict.fromkeys(name for aspect in aspects for name in aspect):
            value, other = aspects[0].get(name, ()), aspects[1].get(name, ())
            stable = not more or aspects[2].get(name, ()) == other  # else it differs every time
            ends = name in Step._fields
            if value != other and stable and not (ends and last):
                report("indistinguishable", f"{name}={brief(value)} for {hidden!r}, "
                       f"but {brief(other)} for {twin!r}")  # fmt: skip

    def _aspects(self, answer: _Answer, paper_id: str) -> dict[str, Any]:
        """Return what must not depend on whether a paper with a hidden id exists later.

        Each key of the result is an aspect of its own, so that one that differs every time, such
        as a counter, excuses no other.
        """
        step = answer.step
        return {
            **_by_path("result", without_ids(answer.result, paper_id)),
            "spent": answer.spent,
            **dict(zip(Step._fields[1:4], step[1:4], strict=True)),
        }


def _by_path(path: str, value: Any) -> dict[str, list[Any]]:
    """Return the leaves of a value of JSON by the keys that lead to them; lists add no key."""
    leaves: dict[str, list[Any]] = {}
    waiting = [(path, value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict) and item:
            waiting += [(f"{path}.{name}", below) for name, below in reversed(item.items())]
        elif isinstance(item, list) and item:
            waiting += [(f"{path}[]", below) for below in reversed(item)]
        else:
            leaves.setdefault(path, []).append(item)
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
            if kind := label_type(value):
                report("attribute", f"{path} is a {kind}, which holds labels")
            elif isinstance(value, str) and (
                value in headings or (value in facts.by_id and value not in facts.surveys)
            ):
                report("attribute", f"{path} is {value!r}")
    except CheckError as error:
        report("attribute", str(error))
    return count
