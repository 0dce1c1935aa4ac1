"""The types of a task, and the tasks by name."""

from __future__ import annotations

from typing import NamedTuple

from arena.registry import Registry

MAX_SUBMITTED = 1_000
"""Most ids in a ranking, the usual depth of a TREC run; what lies deeper does not count."""


DEFAULT_BUDGET = {"max_steps": 100, "max_searches": 50, "max_k": 100}
"""What an episode may use up, unless it is told otherwise."""


class Task(NamedTuple):
    """A task: what the agent is told and what its submission is measured by.

    Attributes:
        instruction: shown to the agent at the start of an episode.
        metrics: names of the metrics reported.
        headline: the metric that is the reward of a submission.
        environment: the Gymnasium id.
    """

    instruction: str
    metrics: tuple[str, ...]
    headline: str
    environment: str


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


TASKS: Registry[Task] = Registry(
    "task", packages=["arena.tasks"], entry_points="researcharena.tasks"
)
