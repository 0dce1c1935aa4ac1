"""What is asked of an agent and how the answer is scored.

`Task` says what a task is; `TaskSet` holds a corpus' surveys. The labels stay with `TaskSet`:
no observation, tool or agent ever gets one.
"""

from arena.tasks.base import TASKS, Gold, Survey, Task
from arena.tasks.task_set import TaskSet

__all__ = ["TASKS", "Gold", "Survey", "Task", "TaskSet"]
