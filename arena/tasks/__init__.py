"""Tasks: what an agent is asked for and how its answer is scored.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
has the topics of a corpus. The labels stay with it: no observation, tool or agent gets one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.tasks.base import TASKS, Stage, Task, environment_ids, needs_of, open_task, task
from arena.tasks.frozen import FrozenTopics
from arena.tasks.profiles import Comparison, is_comparison, read_comparisons
from arena.tasks.topics import (
    EXPERT,
    EXPERT_PAPERS,
    PROMPT_LEVELS,
    Gold,
    Topic,
    text_of,
)

if TYPE_CHECKING:
    from arena.tasks._task_set import TaskSet, choose_topics, play_order, with_text

__all__ = [
    "EXPERT",
    "EXPERT_PAPERS",
    "PROMPT_LEVELS",
    "TASKS",
    "Comparison",
    "FrozenTopics",
    "Gold",
    "Stage",
    "Task",
    "TaskSet",
    "Topic",
    "choose_topics",
    "environment_ids",
    "is_comparison",
    "needs_of",
    "open_task",
    "play_order",
    "read_comparisons",
    "task",
    "text_of",
    "with_text",
]


def __getattr__(name: str) -> Any:
    """Return what opens corpora: ``import arena``, which registers the tasks, opens none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena.tasks import _task_set

    return getattr(_task_set, name)
