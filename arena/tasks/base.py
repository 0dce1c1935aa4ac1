"""Tasks: what an agent is asked, the stages of an episode, and how answers are scored."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from arena.answers import ANSWERS, AnswerKind
from arena.errors import DataError, clip, finite, returned
from arena.metrics import METRICS, Metric, ScoreContext
from arena.plugins import Registry
from arena.tasks.topics import EXPERT

if TYPE_CHECKING:
    from arena.tasks._task_set import TaskSet
    from arena.tools import Tool

RESEARCH = ("search", "read", "references", "citations", "select")
"""Names of the tools that every task offers unless it names its own."""


_REACH = "Only papers from before the cutoff exist."
_EXPERT_REACH = "Only the listed papers exist, whatever their dates, which are not shown."

_NEW = " Papers from before {day} are known: only those of {day} or later are wanted."

Scores = dict[str, float | None]


@dataclass(frozen=True)
class Stage:
    """One stage of an episode: the kind of answer that it asks for, and how that is scored.

    Attributes:
        name: Name of the task whose stage it is.
        answer: Kind of the answer.
        metrics: Metrics that a run reports.
        headlines: The metric that the reward ``final`` pays; of several that are left the first
            that the labels of at least one topic allow, see `Task.on`.
        instruction: Text that the agent reads at the start of the stage.
    """

    name: str
    answer: AnswerKind
    metrics: tuple[Metric, ...]
    headlines: tuple[Metric, ...]
    instruction: str

    def can_score(self, tasks: TaskSet, topic_id: str) -> bool:
        """Return whether a topic has the labels that the headline counts."""
        return self.answer.allows(self.headlines[0], tasks, topic_id)

    def score(self, answer: Any, metrics: Iterable[Metric], context: ScoreContext) -> Scores:
        """Score an answer by metrics that score its kind; None is an empty answer.

        Returns:
            Name -> value in the order of `metrics`, empty for a topic without labels; None where
            labels or report have nothing that the metric counts.
        """
        if not self.answer.has_labels(context.tasks, context.topic_id):
            return {}
        return self._score(answer, metrics, context)

    def _score(self, answer: Any, metrics: Iterable[Metric], context: ScoreContext) -> Scores:
        context = replace(context, submitted=answer, _kept={})
        scores: Scores = {}
        compared: dict[str, tuple[Any, Any]] = {}
        for metric in metrics:
            if metric.kind not in compared:
                compared[metric.kind] = self.answer.pair(answer, metric.kind, context)
            score = metric.score(*compared[metric.kind], context)
            usual = type(score) is float and math.isfinite(score)
            scores[metric.name] = score if usual else finite(score)
            if score is not None and scores[metric.name] is None:
                raise returned(f"the metric {metric.name}", score, "a finite number, or None")
        return scores


class Task:
    """A task: what the agent is asked for, and how its answer is scored.

    A subclass with ``@task("name")`` declares it by class attributes, which are names; its
    docstring begins with one line for lists. An instance has resolved them, once, into `stages`.
    Every task has an environment, ``arena/NAME-v0``, which `ResearchEnv` plays.

    Attributes:
        name: Its name.
        instruction: Text that the agent reads at the start of an episode.
        metrics: Names of the reported metrics.
        headline: Metric that the reward ``final`` pays; or several, of which the first counts that
            the labels of at least one topic of a corpus allow.
        answer: Kind of answer that is submitted, ``"ranking"``, ``"map"``, ``"report"`` or one of a
            plug-in; without meaning if there are `parts`.
        parts: Names of the tasks that one episode of this one goes through, if there are any. Their
            headlines' mean has the name `headline`.
        reward: Reward that an environment pays by default.
        tools: Names of the tools; by default `RESEARCH`, those that the answers need, and
            ``finish``.
        references: Default of the environment's argument `references`, such as ``"oracle"``.
            Empty if episodes start without papers.
        environment: Gymnasium id of an environment of the task's own, ``id`` or ``module:id``;
            empty for ``arena/NAME-v0``.
        stages: The stages of an episode, at least one.
        declared: The class of each stage.
    """

    name: ClassVar[str] = ""
    instruction: ClassVar[str] = ""
    metrics: ClassVar[tuple[str, ...]]
    headline: ClassVar[str | tuple[str, ...]]
    answer: ClassVar[str] = "ranking"
    parts: ClassVar[tuple[str, ...]] = ()
    reward: ClassVar[str] = "final"
    tools: ClassVar[tuple[str, ...]] = ()
    references: ClassVar[str] = ""
    environment: ClassVar[str] = ""

    def __init__(self) -> None:
        self.declared = tuple(TASKS.get(name) for name in self.parts) or (type(self),)
        self.stages = tuple(map(_stage, self.declared))

    @property
    def headline_name(self) -> str:
        """Name of the score that the reward ``final`` pays."""
        return str(self.headline) if self.parts else self.stages[0].headlines[0].name

    @property
    def environment_id(self) -> str:
        """Gymnasium id of the environment."""
        return self.environment or _default_id(self.name)

    @property
    def kinds(self) -> tuple[AnswerKind, ...]:
        """The kind of answer of each stage."""
        return tuple(stage.answer for stage in self.stages)

    @property
    def own_metrics(self) -> list[Metric]:
        """The metrics of all stages, in order."""
        return [metric for stage in self.stages for metric in stage.metrics]

    def lacking(self, tasks: TaskSet) -> str:
        """Return in words what no topic has, of what one needs to be scored; else all of that."""
        needs = dict.fromkeys(kind.labels for kind in self.kinds)
        had = [k.labels for k in self.kinds if any(k.has_labels(tasks, s) for s in tasks.topics)]
        return " and ".join([need for need in needs if need not in had] or needs)

    @property
    def writes(self) -> bool:
        """Whether a stage asks for a text, which has a budget of characters."""
        return any(kind.writes for kind in self.kinds)

    def on(self, tasks: TaskSet) -> Task:
        """Return the task with the headlines that the labels of a task set allow."""
        if all(len(stage.headlines) == 1 for stage in self.stages):
            return self
        chosen = copy.copy(self)
        chosen.stages = tuple(_with_headline(stage, tasks) for stage in self.stages)
        return chosen

    def instructions(
        self, references: str | None = None, since: str | None = None
    ) -> tuple[str, ...]:
        """Return what an agent reads at the start of each stage; the arguments are settings."""
        texts = [stage.instruction for stage in self.stages]
        if self.parts:
            texts[0] = f"{self.instruction} {texts[0]}"
        reach = _EXPERT_REACH if references == EXPERT else _REACH
        new = _NEW.format(day=since) if since else ""
        return tuple(text.replace(_REACH, reach) + new for text in texts)

    def offered(self, references: str | None = None, more: Sequence[str] = ()) -> list[Tool]:
        """Return the tools of an episode, in the order in which agents see them.

        `more` are names of further tools. With the setting ``references="expert"`` an agent reads,
        and submits or finishes.
        """
        from arena.tools import TOOLS

        submitting = [kind.tool for kind in self.kinds]
        helping = [tool for kind in self.kinds for tool in kind.tools]
        names: Iterable[str] = self.tools or (*RESEARCH, *helping, *submitting, "finish")
        if references == EXPERT:
            names = ("read", *submitting, "finish")
        return [TOOLS.get(name) for name in dict.fromkeys((*names, *more))]

    def stage(self, name: str) -> Stage | None:
        """Return the stage of this name, if there is one."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def takes(self, answers: Mapping[str, Any]) -> bool:
        """Return whether JSON values may be the answers to stages."""
        kinds = {stage.name: stage.answer for stage in self.stages}
        return all(name in kinds and kinds[name].fits(each) for name, each in answers.items())

    def can_score(self, tasks: TaskSet, topic_id: str) -> bool:
        """Return whether every stage has the labels of a topic that its headline counts."""
        return all(stage.can_score(tasks, topic_id) for stage in self.stages)

    def ideal(self, tasks: TaskSet, topic_id: str) -> dict[str, Any]:
        """Return stage -> the best possible answer, for the stages that have labels."""
        found = {stage.name: stage.answer.ideal(tasks, topic_id) for stage in self.stages}
        return {name: answer for name, answer in found.items() if answer is not None}

    def evaluate(self, answers: Mapping[str, Any], context: ScoreContext) -> dict[str, float]:
        """Score the answers submitted for one topic; a missing stage scores as an empty answer.

        A task of several stages adds its headline, the mean of the stages' headlines. A stage
        without the labels that its headline counts is left out, also of that mean. A metric that
        has nothing to count is left out.
        """
        scores: dict[str, float] = {}
        headlines = []
        for stage in self.stages:
            if not stage.can_score(context.tasks, context.topic_id):
                continue
            found = stage._score(answers.get(stage.name), stage.metrics, context)
            headline = stage.headlines[0].name
            headlines.append(found[headline] or 0.0)
            found[headline] = headlines[-1]
            for metric, score in found.items():
                if score is not None:
                    scores[metric] = score
        if self.parts and headlines:
            scores[self.headline_name] = math.fsum(headlines) / len(headlines)
        return scores

    def abstains(self, answers: Mapping[str, Any]) -> bool:
        """Return whether every stage got an answer, and none has a part, such as a paper."""
        sizes = [s.answer.size(answers[s.name]) for s in self.stages if s.name in answers]
        return len(sizes) == len(self.stages) and not any(sizes)

    def worth(self, scores: Mapping[str, float]) -> float | None:
        """Return what ``final`` pays: the headline, or its negative if less is better."""
        if self.parts:
            return scores.get(str(self.headline))
        headline = self.stages[0].headlines[0]
        score = scores.get(headline.name)
        return 0.0 - score if headline.lower_is_better and score is not None else score

    def evaluate_by(
        self, metric: Metric, answers: Mapping[str, Any], context: ScoreContext
    ) -> float | None:
        """Score the answers submitted for one topic by any one metric.

        Of several stages whose answers it can score, that counts which reports it, or else the
        first. None if the topic has no labels, or none that the metric counts.
        """
        fitting = [stage for stage, _ in self.columns([metric]).values()]
        reporting = (s for s in fitting if metric.name in {each.name for each in s.metrics})
        stage = next(reporting, fitting[0])
        return stage.score(answers.get(stage.name), [metric], context).get(metric.name)

    def columns(self, metrics: Iterable[Metric]) -> dict[str, tuple[Stage, Metric]]:
        """Return the columns of a report by further metrics: name -> (stage, metric).

        In a task of several stages a column is called ``STAGE.METRIC``. Metrics of rankings score
        the ids that a report cites, too. A metric that needs a model, or scores what no stage
        submits, is refused.
        """
        columns = {}
        for metric in metrics:
            name = metric.name
            if "model" in metric.needs:
                raise DataError(
                    f"{clip(name)} needs a language model: score the written reports with the "
                    "suite that has it, `arena evaluate SUITE`."
                )
            fitting = [stage for stage in self.stages if stage.answer.takes(metric)]
            if not fitting:
                what = "report" if metric.kind == "survey" else metric.kind
                raise DataError(
                    f"{clip(name)} scores a {what}, and the task {self.name!r} has none."
                )
            for stage in fitting:
                columns[name if len(self.stages) == 1 else f"{stage.name}.{name}"] = stage, metric
        return columns

    def find_metrics(self, names: Iterable[str]) -> list[Metric]:
        """Return the metrics that a user names for this task, each once."""
        found = []
        for name in dict.fromkeys(names):
            if self.parts and name == self.headline:
                raise DataError(
                    f"{name} is the mean of the stages' headlines: it is scored anyway, with the "
                    "task's own metrics, and the reward 'final' pays it."
                )
            found.append(METRICS.find(name))
        return list({metric.name: metric for metric in found}.values())

    def directions(self, metrics: Iterable[Metric] = ()) -> dict[str, bool | None]:
        """Return column of a report -> `Metric.lower_is_better`; more of the headline is better.

        `metrics` are those that are reported besides the task's own.
        """
        found = {metric.name: metric.lower_is_better for metric in self.own_metrics}
        for name, (_, metric) in self.columns(metrics).items():
            found[name] = metric.lower_is_better
        return found | ({self.headline_name: False} if self.parts else {})

    def definition(self) -> dict[str, Any]:
        """Return all that shapes what is played and scored, as manifests record it."""
        return {
            "instruction": self.instruction,
            "metrics": list(self.metrics),
            "headline": self.headline_name,
            "answer": self.answer,
            "stages": list(self.parts),
            "reward": self.reward,
            "tools": list(self.tools),
            "environment": self.environment_id,
        }

    def nothing_submitted(self, entries: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return in words in how many episodes of ``per_topic`` a stage got no answer."""
        from arena.text.display import count

        submitted = [s for e in entries for s in e.get("submitted_each", [e["submitted"]])]
        return [
            f"nothing {f'in the stage {stage.name} ' * (len(self.stages) > 1)}in {missing} of "
            f"{count(len(submitted), 'episode')}; nothing scores as an empty answer."
            for stage in self.stages
            if (missing := sum(not each.get(stage.name) for each in submitted))
        ]


def needs_of(metrics: Iterable[Metric]) -> frozenset[str]:
    """Return all that metrics need of their context."""
    return frozenset().union(*(metric.needs for metric in metrics))


def _stage(part: type[Task]) -> Stage:
    for lacking in ("metrics", "headline"):
        if not getattr(part, lacking, ""):
            raise DataError(f"the task {part.name!r} does not define {lacking}.")
    names = (part.headline,) if isinstance(part.headline, str) else part.headline
    metrics = tuple(METRICS.get(name) for name in part.metrics)
    known = {metric.name: metric for metric in metrics}
    headlines = tuple(known.get(name) or METRICS.get(name) for name in names)
    kind = ANSWERS.get(part.answer)
    if part.tools and not {kind.tool, "finish"} & {*part.tools}:
        raise DataError(f"the task {part.name!r} names tools, and none that submits: {kind.tool}.")
    for metric in (*metrics, *headlines):
        if not kind.takes(metric):
            raise DataError(
                f"the task {part.name!r} reports {metric.name}, which scores a {metric.kind}, and "
                f"its answer is a {kind.name}. Give another metric, or another answer."
            )
    return Stage(part.name, kind, metrics, headlines, part.instruction)


def _with_headline(stage: Stage, tasks: TaskSet) -> Stage:
    """Return a stage with the first headline that the labels of at least one topic allow."""
    for metric in stage.headlines[:-1]:
        if any(stage.answer.allows(metric, tasks, topic) for topic in tasks.topics):
            return replace(stage, headlines=(metric,))
    return replace(stage, headlines=stage.headlines[-1:])


def _named(name: str, task: type[Task]) -> type[Task]:
    """Give a task its name, and register its environment with Gymnasium."""
    from gymnasium.envs.registration import register, registry

    task.name, env_id = name, _default_id(name)
    if not task.environment and env_id in registry:
        other = registry[env_id].kwargs.get("task")
        if other != name:
            raise DataError(
                f"the task {name!r} and the task {other!r} would both have the environment "
                f"{env_id}. Rename one of them."
            )
    elif not task.environment:
        if name == "pipeline":
            register(id="arena/Survey-v0", entry_point="arena.tasks.base:refuse_survey")
        register(
            id=env_id,
            entry_point="arena.envs:ResearchEnv",
            vector_entry_point="arena.envs:ResearchVectorEnv",
            kwargs={"task": name},
            # Gymnasium's checker checks what the tests here check, and stays broken when a first
            # reset() is refused.
            disable_env_checker=True,
        )
    return task


def refuse_survey(**_: Any) -> NoReturn:
    """Refuse the environment ``arena/Survey-v0``, which Gymnasium makes by this."""
    raise DataError("the environment arena/Survey-v0 is called arena/Pipeline-v0 now.")


TASKS: Registry[type[Task]] = Registry("task", packages=["arena.tasks"], base=Task, make=_named)
task = TASKS.register
"""Decorator of a subclass of `Task`: ``@task("name")``."""


def open_task(name: str) -> Task:
    """Return the task that a user names, ``NAME`` or ``FILE.py:NAME``."""
    return TASKS.find(name)()


def environment_ids() -> list[str]:
    """Return the Gymnasium ids of the environments of all tasks, by name of the task."""
    return [open_task(name).environment_id for name in TASKS.names()]


def _default_id(name: str) -> str:
    words = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^0-9A-Za-z]+", name))
    return f"arena/{words}-v0"
