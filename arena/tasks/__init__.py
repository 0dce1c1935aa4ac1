"""What is asked of an agent and how the answer is scored.

`Task` says what a task is; `TaskSet` holds a corpus' surveys. The labels stay with `TaskSet`:
no observation, tool or agent ever gets one.
"""

from arena.tasks.base import (
    DEFAULT_BUDGET,
    TASKS,
    Gold,
    Survey,
    Task,
    environment_id,
    environment_ids,
    stages_of,
    tools_of,
)
from arena.tasks.choice import choose_surveys
from arena.tasks.scoring import (
    ENCODER,
    EXTRACTOR,
    can_score,
    evaluate_answers,
    ideal_answers,
    ideal_ranking,
    measures,
)
from arena.tasks.task_set import TaskSet

__all__ = [
    "DEFAULT_BUDGET",
    "ENCODER",
    "EXTRACTOR",
    "TASKS",
    "Gold",
    "Survey",
    "Task",
    "TaskSet",
    "can_score",
    "choose_surveys",
    "environment_id",
    "environment_ids",
    "evaluate_answers",
    "ideal_answers",
    "ideal_ranking",
    "measures",
    "stages_of",
    "tools_of",
]
