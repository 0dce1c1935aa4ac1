"""The types of a task, and the tasks by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from arena.answers import ANSWERS, AnswerKind
from arena.errors import DataError, clip, did_you_mean
from arena.registry import Registry

RESEARCH = ("search", "read", "references", "citations", "select")
"""Names of the tools that every task offers unless it names its own."""


EXPERT = "expert"
"""Value of the environment's argument `references`: all papers of the survey's own mind-map."""

EXPERT_PAPERS = "experts' papers, undated"
"""How runs and tables call it."""

_REACH = "Only papers from before the cutoff exist."
_EXPERT_REACH = "Only the listed papers exist, whatever their dates, which are not shown."


class Task(NamedTuple):
    """A task: what the agent is asked for, and how its answer is scored.

    Every task has an environment, ``arena/NAME-v0``, which `SurveyEnv` plays.

    Attributes:
        description: One line for the list of environments.
        instruction: Text that the agent reads at the start of an episode.
        metrics: Names of the reported metrics.
        headline: Metric that the reward ``final`` pays.
        answer: Kind of answer that is submitted, ``"ranking"``, ``"map"`` or
            ``"report"``; without meaning if there are `stages`.
        stages: Names of the tasks that one episode of this one goes through, if there are any.
        reward: Reward that an environment pays by default.
        tools: Names of the tools; by default `RESEARCH`, the tools that name this task, those
            that submit the answers, and ``finish``.
        references: Default of the environment's argument `references`, such as ``"oracle"``.
            Empty if episodes start without papers.
        environment: Gymnasium id of an environment of the task's own, ``id`` or ``module:id``;
            empty for ``arena/NAME-v0``.
    """

    description: str
    instruction: str
    metrics: tuple[str, ...]
    headline: str
    answer: str = "ranking"
    stages: tuple[str, ...] = ()
    reward: str = "gain"
    tools: tuple[str, ...] = ()
    references: str = ""
    environment: str = ""


PROMPT_LEVELS = ("sentence", "paragraph", "detailed")
"""Levels of detail of a survey's prompts, the least detailed first (ReportBench, section 2.1.2)."""


class Survey(NamedTuple):
    """All that an agent may know of a survey.

    Attributes:
        id: Name in runs and qrels.
        title: Title as published; the topic is the title in lower case.
        date: The resolved day, ``YYYY-MM-DD``; papers before it are in reach.
        date_guessed: Whether no source states the date.
        prompts: Level of `PROMPT_LEVELS` -> a request for a report on the topic, in that order.
        domain: Domain of application as the source names it; empty if it does not.
        question: Whether the title is a question, which is the topic as it stands.
    """

    id: str
    title: str
    date: str
    date_guessed: bool = False
    prompts: Mapping[str, str] = {}
    domain: str = ""
    question: bool = False


PROMPTS = ("title", *PROMPT_LEVELS, "any")
"""Values of the environment's argument `prompt`."""


def topic_of(survey: Survey, prompt: str) -> str | None:
    """Return what an agent is asked about a survey; None if the survey has no such prompt.

    ``"title"`` stands for its title in lower case, or for its question; a level of `PROMPT_LEVELS`
    for its prompt of that level, ``"any"`` for its most detailed prompt.
    """
    if prompt not in PROMPTS:
        raise DataError(f"prompt={clip(prompt)}.{did_you_mean(prompt, PROMPTS)}")
    if prompt == "title":
        return survey.title if survey.question else survey.title.lower()
    return [None, *survey.prompts.values()][-1] if prompt == "any" else survey.prompts.get(prompt)


class Gold(NamedTuple):
    """The labels of one survey.

    Attributes:
        gains: Paper id -> 2 (influential) or 1, for the references that an agent can reach:
            in the corpus, dated before the survey, no survey. In document order.
        references: Number of distinct references that are listed, in reach or not.
        references_total: Number of all references of the survey, as far as the source says.
    """

    gains: dict[str, int]
    references: int
    references_total: int


class TaskRegistry(Registry[Task]):
    """The tasks by name. Each has its environment registered with Gymnasium."""

    def register(self, name: str) -> Callable[[Task], Task]:
        """Return a decorator that registers a task and its environment."""
        decorate = super().register(name)

        def register(task: Task) -> Task:
            decorate(task)
            self._register_environment(name, task)
            return task

        return register

    def register_environments(self) -> None:
        """Register the environments of all tasks with Gymnasium; load no entry point."""
        for name in self.names():
            self._register_environment(name, self._items.get(name))

    def _register_environment(self, name: str, task: Task | None) -> None:
        from gymnasium.envs.registration import register, registry

        env_id = _default_id(name)
        if task and task.environment:
            return
        if env_id in registry:
            other = registry[env_id].kwargs.get("task")
            if other != name:
                raise DataError(
                    f"the task {name!r} and the task {other!r} would both have the environment "
                    f"{env_id}. Rename one of them."
                )
        else:
            register(
                id=env_id,
                entry_point="arena.envs:SurveyEnv",
                vector_entry_point="arena.envs:SurveyVectorEnv",
                kwargs={"task": name},
                # Gymnasium's checker checks what the tests here check, and stays broken when a
                # first reset() is refused.
                disable_env_checker=True,
            )


TASKS = TaskRegistry(
    "task", packages=["arena.tasks"], entry_points="researcharena.tasks", base=Task
)


def environment_id(name: str) -> str:
    """Return the Gymnasium id of the environment of a task."""
    return TASKS.get(name).environment or _default_id(name)


def environment_ids() -> list[str]:
    """Return the Gymnasium ids of the environments of all tasks, by name of the task."""
    return [environment_id(name) for name in TASKS.names()]


def stages_of(name: str) -> tuple[tuple[str, Task], ...]:
    """Return the (name, task) pairs that an episode of a task goes through, itself if single."""
    task = TASKS.get(name)
    return tuple((stage, TASKS.get(stage)) for stage in task.stages) or ((name, task),)


def kinds_of_answers(name: str) -> set[str]:
    """Return the kinds of answers that the stages of a task submit."""
    return {stage.answer for _, stage in stages_of(name)}


def kind_of(stage: str) -> AnswerKind:
    """Return the kind of answer of a task without stages."""
    return ANSWERS.get(TASKS.get(stage).answer)


def instructions_of(name: str, references: str | None = None) -> tuple[str, ...]:
    """Return what an agent reads at the start of each stage; `references` is the setting."""
    task, texts = TASKS.get(name), [stage.instruction for _, stage in stages_of(name)]
    if task.stages:
        texts[0] = f"{task.instruction} {texts[0]}"
    reach = _EXPERT_REACH if references == EXPERT else _REACH
    return tuple(text.replace(_REACH, reach) for text in texts)


def tools_of(name: str, references: str | None = None) -> tuple[str, ...]:
    """Return the names of a task's tools, in the order in which agents see them.

    With the setting ``references="expert"`` an agent reads, and submits or finishes.
    """
    from arena.tools import TOOLS

    task, stages = TASKS.get(name), stages_of(name)
    if references == EXPERT:
        return ("read", *(kind_of(stage).tool for stage, _ in stages), "finish")
    if task.tools:
        return task.tools
    played = {name, *(stage for stage, _ in stages)}
    offered = [tool for tool in TOOLS.names() if not played.isdisjoint(TOOLS.get(tool).tasks)]
    kinds = [kind_of(stage) for stage, _ in stages]
    offered += [tool for kind in kinds for tool in kind.tools]
    return tuple(dict.fromkeys((*RESEARCH, *offered, *(kind.tool for kind in kinds), "finish")))


def _default_id(name: str) -> str:
    words = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^0-9A-Za-z]+", name))
    return f"arena/{words}-v0"
