"""The types of a task, and the tasks by name."""

from __future__ import annotations

from typing import NamedTuple

from arena.registry import Registry

DEFAULT_BUDGET = {
    "max_steps": 100,
    "max_searches": 50,
    "max_reads": 100,
    "max_characters": 2_000_000,
    "max_k": 100,
}
"""What an episode may use up, unless it is told otherwise."""

RESEARCH = ("search", "read", "references", "citations", "select")
"""Names of the tools by which every task is worked on."""


class Task(NamedTuple):
    """A task: what the agent is told and what its answer is measured by.

    Attributes:
        instruction: shown to the agent at the start of an episode.
        metrics: names of the metrics reported.
        headline: the metric that the reward ``final`` pays.
        environment: the Gymnasium id.
        answer: what is handed in, ``"ranking"`` or ``"mind_map"``; without meaning where there
            are `stages`.
        stages: names of the tasks that one episode of this one goes through, if there are any.
        reward: what is paid unless an environment is told otherwise.
        tools: names of the tools; empty for those of the task's kind.
    """

    instruction: str
    metrics: tuple[str, ...]
    headline: str
    environment: str
    answer: str = "ranking"
    stages: tuple[str, ...] = ()
    reward: str = "gain"
    tools: tuple[str, ...] = ()


class Survey(NamedTuple):
    """What an agent may know of a survey: nothing but this.

    Attributes:
        id: its name in runs and qrels.
        title: as published; the topic is the title in lower case.
        date: the resolved day, ``YYYY-MM-DD``; papers before it are in reach.
    """

    id: str
    title: str
    date: str


class Gold(NamedTuple):
    """The labels of one survey.

    Attributes:
        gains: paper id -> 2 (influential) or 1, for the references that an agent can reach:
            in the corpus, dated before the survey, no survey. In document order.
        references: how many distinct references are listed, in reach or not.
        references_total: how many the survey has in all, as far as the source says.
    """

    gains: dict[str, int]
    references: int
    references_total: int


def stages_of(name: str) -> tuple[tuple[str, Task], ...]:
    """Return the (name, task) pairs that an episode of a task goes through, itself if single.

    Raises:
        UnknownNameError: if there is no such task.
    """
    task = TASKS.get(name)
    return tuple((stage, TASKS.get(stage)) for stage in task.stages) or ((name, task),)


def tools_of(name: str) -> tuple[str, ...]:
    """Return the names of a task's tools, in the order in which agents are told of them."""
    task = TASKS.get(name)
    if task.tools:
        return task.tools
    last = {"ranking": "submit", "mind_map": "organize"}
    answers = dict.fromkeys(last[stage.answer] for _, stage in stages_of(name))
    return (*RESEARCH, *answers, "finish")


TASKS: Registry[Task] = Registry(
    "task", packages=["arena.tasks"], entry_points="researcharena.tasks"
)
