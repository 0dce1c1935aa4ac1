"""Tasks: what an agent is asked for and how its answer is scored, one file each.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
holds the surveys of a corpus. The labels stay with it: no observation, tool or agent gets one.
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
from arena.tasks.scoring import (
    ENCODER,
    EXTRACTOR,
    can_score,
    evaluate_answers,
    evaluate_metric,
    ideal_answers,
    ideal_ranking,
    is_of_mind_maps,
    lower_is_better,
    measures,
    metric_function,
    scored_stages,
)
from arena.tasks.task_set import TaskSet, choose_surveys, play_order

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
    "evaluate_metric",
    "ideal_answers",
    "ideal_ranking",
    "is_of_mind_maps",
    "lower_is_better",
    "measures",
    "metric_function",
    "play_order",
    "scored_stages",
    "stages_of",
    "tools_of",
]
