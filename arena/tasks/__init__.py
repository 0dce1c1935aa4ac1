"""Tasks: what an agent is asked for and how its answer is scored, one file each.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
has the surveys of a corpus. The labels stay with it: no observation, tool or agent gets one.
"""

from arena.tasks.base import TASKS, Stage, Task, environment_ids, needs_of, open_task, task
from arena.tasks.surveys import (
    EXPERT,
    EXPERT_PAPERS,
    PROMPT_LEVELS,
    Gold,
    Survey,
    topic_of,
)
from arena.tasks.task_set import TaskSet, choose_surveys, play_order, with_topic

__all__ = [
    "EXPERT",
    "EXPERT_PAPERS",
    "PROMPT_LEVELS",
    "TASKS",
    "Gold",
    "Stage",
    "Survey",
    "Task",
    "TaskSet",
    "choose_surveys",
    "environment_ids",
    "needs_of",
    "open_task",
    "play_order",
    "task",
    "topic_of",
    "with_topic",
]
