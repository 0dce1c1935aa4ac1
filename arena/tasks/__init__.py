"""Tasks: what an agent is asked for and how its answer is scored, one file each.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
has the topics of a corpus. The labels stay with it: no observation, tool or agent gets one.
"""

from arena.tasks.base import TASKS, Stage, Task, environment_ids, needs_of, open_task, task
from arena.tasks.task_set import TaskSet, choose_topics, play_order, with_text
from arena.tasks.topics import (
    EXPERT,
    EXPERT_PAPERS,
    PROMPT_LEVELS,
    Gold,
    Topic,
    text_of,
)

__all__ = [
    "EXPERT",
    "EXPERT_PAPERS",
    "PROMPT_LEVELS",
    "TASKS",
    "Gold",
    "Stage",
    "Task",
    "TaskSet",
    "Topic",
    "choose_topics",
    "environment_ids",
    "needs_of",
    "open_task",
    "play_order",
    "task",
    "text_of",
    "with_text",
]
