"""What is asked of an agent and how the answer is scored.

`Task` says what a task is; `TaskSet` holds a corpus' surveys. The labels stay with `TaskSet`:
no observation, tool or agent ever gets one.
"""

from arena.tasks.base import DEFAULT_BUDGET, MAX_SUBMITTED, TASKS, Gold, Survey, Task
from arena.tasks.choice import choose_surveys
from arena.tasks.task_set import TaskSet

__all__ = [
    "DEFAULT_BUDGET",
    "MAX_SUBMITTED",
    "TASKS",
    "Gold",
    "Survey",
    "Task",
    "TaskSet",
    "choose_surveys",
]
