"""Tasks: what an agent is asked for and how its answer is scored, one file each.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
has the surveys of a corpus. The labels stay with it: no observation, tool or agent gets one.
"""

from arena.tasks.base import (
    EXPERT,
    EXPERT_PAPERS,
    PROMPT_LEVELS,
    TASKS,
    Gold,
    Survey,
    Task,
    environment_id,
    environment_ids,
    instructions_of,
    kind_of,
    kinds_of_answers,
    stages_of,
    tools_of,
    topic_of,
)
from arena.tasks.scoring import (
    can_score,
    direction_of,
    evaluate_answers,
    evaluate_metric,
    functions_of,
    ideal_answers,
    needs_of,
    nothing_submitted,
    own_metrics,
    score_answer,
    scored_stages,
)
from arena.tasks.task_set import TaskSet, choose_surveys, play_order, with_topic

__all__ = [
    "EXPERT",
    "EXPERT_PAPERS",
    "PROMPT_LEVELS",
    "TASKS",
    "Gold",
    "Survey",
    "Task",
    "TaskSet",
    "can_score",
    "choose_surveys",
    "direction_of",
    "environment_id",
    "environment_ids",
    "evaluate_answers",
    "evaluate_metric",
    "functions_of",
    "ideal_answers",
    "instructions_of",
    "kind_of",
    "kinds_of_answers",
    "needs_of",
    "nothing_submitted",
    "own_metrics",
    "play_order",
    "score_answer",
    "scored_stages",
    "stages_of",
    "tools_of",
    "topic_of",
    "with_topic",
]
