"""One episode as it is played, with everything that comes back checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.audit._actions import Call, Menu, Probe
from arena.audit._answers import Answers, nodes_of
from arena.audit._comparing import Say, keys, only_error
from arena.audit._facts import Reach, Survey
from arena.audit._hostile import without
from arena.audit._info import check_end, check_step
from arena.audit._kinds import Kind
from arena.audit._report import Log, brief
from arena.audit._results import Results

OBSERVATION = {"topic", "cutoff", "stage", "result", "budget"}
BUDGET = {"steps", "searches", "reads", "characters"}
_TOPIC = 10_000


class Step(NamedTuple):
    """What an environment gave back; `info` as of the scalar environment."""

    observation: Mapping[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]


class _Answer(NamedTuple):
    """What may be compared between two actions."""

    result: dict[str, Any]
    spent: dict[str, int]
    left: dict[str, int]
    step: Step


class Episode:
    """Draws actions for one episode and checks each answer.

    Args:
        kind: the environment.
        survey: of the episode.
        reach: what exists in it.
        menu: draws the actions.
        results: checks what is shown.
        told: (environment, stage) -> what agents are told there, the same for all surveys.
        log: takes findings.
    """

    def __init__(
        self,
        kind: Kind,
        survey: Survey,
        reach: Reach,
        menu: Menu,
        results: Results,
        told: dict[tuple[str, str], set[str]],
        log: Log,
    ) -> None:
        self.survey, self.over = survey, False
        self._environment, self._reach, self._given = kind.name, reach, kind.given
        self._where = f"{kind.name}, survey {survey.id!r} before {survey.date}"
        self._menu, self._results, self._told, self._log = menu, results, told, log
        self._answers = Answers(kind.stages, results, reach)
        self._labels = [*labels_of(survey), survey.id]
        self._waiting: list[Call] = []
        self._probe: Probe | None = None
        self._first: _Answer | None = None
        self._call = Call(None, "", {})
        self._budget: dict[str, int] = {}

    def begin(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Check what a reset gave."""
        self._log.surveys.add(self.survey.id)
        self._log.cutoffs.add(self.survey.date)
        say = self._say("reset()")
        result = self._observed(observation, say)
        if dict(info) != {"survey": self.survey.id}:
            say("info", f"info={brief(info)}")
        self._instructed(result, say)
        if not self._given:
            keys(result, {"message"}, "the first result", say)
            return
        keys(result, {"message", "references"}, "the first result", say)
        gold = sorted(
            self._reach.facts.by_id[reference.id].number
            for reference in self.survey.references
            if self._reach.paper(reference.id)
        )
        papers = [self._reach.facts.papers[number] for number in gold[:1_000]]
        wanted = [{"id": p.id, "title": p.title[:500], "date": p.date} for p in papers]
        for item in result.get("references") or ():
            self._results.shown(item.get("id"), item.get("title"), item.get("date"), say)
        if result.get("references") != wanted:
            say("list", "the references given are not those in reach in the order of their dates")

    def next(self) -> Any:
        """Return the action to send."""
        if not self._waiting:
            self._probe, self._first = self._menu.probe(), None
            self._waiting = list(self._probe.calls)
        self._call = self._waiting.pop(0)
        return self._call.action

    def take(self, step: Step) -> None:
        """Check what came back."""
        call, say = self._call, self._say(brief(self._call.action))
        self._log.counts["actions"] += 1
        self._log.tools[call.tool or "malformed"] += 1
        self._log.environments[self._environment] += 1
        before = self._budget
        result = self._observed(step.observation, say, check_stage=False)
        spent = {name: before[name] - left for name, left in self._budget.items() if name in before}
        self.over = step.terminated or step.truncated
        if not call.tool:
            if "error" not in result:
                say("error", "a malformed call was answered")
            only_error(result, say)
        elif call.tool in ("select", "submit", "organize", "finish"):
            self._answers.check(call, result, say)
        else:
            self._results.check(call, result, step.truncated, say)
        if step.observation.get("stage") != self._answers.stage:
            say("observation", f"stage={step.observation.get('stage')!r}")
        self._instructed(result, say)
        self._unlabelled(result, call, say)
        check_step(step.info, step.reward, self.survey, self.over, say)
        if self.over:
            check_end(step.info, self.survey, self._answers.handed_in, say)
        self._related(_Answer(result, spent, self._budget, step), say)

    def crash(self, error: Exception) -> None:
        """Report an exception."""
        self._say(brief(self._call.action))("crash", f"{type(error).__name__}: {error}")

    def say(self, action: str) -> Say:
        """Return what takes findings of this episode."""
        return self._say(action)

    def _say(self, action: str) -> Say:
        return lambda check, what: self._log.add(check, self._where, action, what)

    def _observed(
        self, observation: Mapping[str, Any], say: Say, check_stage: bool = True
    ) -> dict[str, Any]:
        """Check an observation; return the result in it."""
        if set(observation) != OBSERVATION:
            say("observation", f"it has the keys {sorted(observation)}")
        wanted = {"topic": self.survey.title.lower()[:_TOPIC], "cutoff": self.survey.date}
        if check_stage:
            wanted["stage"] = self._answers.stage
        for name, value in wanted.items():
            if observation.get(name) != value:
                say("observation", f"{name}={observation.get(name)!r}, and should be {value!r}")
        budget = observation.get("budget")
        if not isinstance(budget, Mapping) or set(budget) != BUDGET:
            say("observation", f"budget={brief(budget)}")
            budget = {}
        elif not all(isinstance(left, int | np.integer) for left in budget.values()):
            say("observation", f"budget={brief(budget)}")
        self._budget = {name: int(left) for name, left in budget.items()}
        try:
            result = json.loads(observation.get("result", ""))
        except (TypeError, ValueError):
            result = None
        if not isinstance(result, dict):
            say("result", f"it is no object of JSON: {brief(observation.get('result'))}")
            return {}
        return result

    def _instructed(self, result: Mapping[str, Any], say: Say) -> None:
        """Check that an instruction is the same whatever the survey."""
        if "message" not in result:
            return
        searched = "hits" in result  # where there may be nothing at all, or nothing more
        place = self._environment.split(" ")[0], f"{self._call.tool} {self._answers.stage}"
        told = self._told.setdefault(("search", "") if searched else place, set())
        told.add(str(result["message"]))
        if len(told) > 1 + searched:
            say("instruction", f"{result['message']!r} is another one than before: {sorted(told)}")
            told.remove(str(result["message"]))

    def _unlabelled(self, result: Mapping[str, Any], call: Call, say: Say) -> None:
        """Check that a text that is not held against the files names no label of its own accord."""
        texts = [value for name, value in result.items() if name in ("error", "message")]
        sent = brief([call.action, call.arguments], 100_000)
        for text in map(str, texts):
            for label in self._labels:
                if label in text and label not in sent:
                    say("error", f"{text!r} names the label {label!r}")

    def _related(self, answer: _Answer, say: Say) -> None:
        """Check the second answer of a pair against the first."""
        probe, first = self._probe, self._first
        if probe is None or probe.kind == "single":
            return
        if first is None:
            self._first = answer
        elif probe.kind == "paged":
            offset = probe.calls[1].arguments["offset"]
            whole, part = first.result.get("hits"), answer.result.get("hits")
            if whole is not None and part is not None:
                self._log.counts["pages compared"] += 1
                if whole[offset:] != part:
                    say("paging", f"{len(part)} hits, other than hits {offset} on of one search")
        else:
            self._twins(first, answer, probe.ids, say)

    def _twins(self, first: _Answer, second: _Answer, ids: tuple[str, str], say: Say) -> None:
        self._log.counts["twins compared"] += 1
        texts = [
            without(str(answer.result.get("error")), paper_id)
            for answer, paper_id in zip((first, second), ids, strict=True)
        ]
        if texts[0] != texts[1]:
            say(
                "indistinguishable", f"{texts[0]!r} for {ids[0]!r}, but {texts[1]!r} for {ids[1]!r}"
            )
        if first.spent != second.spent:
            say("indistinguishable", f"{ids[0]!r} cost {first.spent}, {ids[1]!r} {second.spent}")
        if second.left.get("steps") == 0:  # the last step ends the episode whatever it is
            return
        for name, one, two in zip(
            Step._fields[1:4], first.step[1:4], second.step[1:4], strict=True
        ):
            if one != two:
                say("indistinguishable", f"{name}={one} for {ids[0]!r}, but {two} for {ids[1]!r}")


def labels_of(survey: Survey) -> list[str]:
    """Return the ids and headings of a survey that are too long to stand in a text by chance."""
    headings = (str(node.get("label", node.get("name"))) for node in nodes_of(survey.mind_map))
    ids = (reference.id for reference in survey.references)
    return [*(i for i in ids if len(i) > 4), *(h for h in headings if len(h) > 12)]
