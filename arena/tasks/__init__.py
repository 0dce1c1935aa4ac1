"""Tasks: what an agent is asked for and how its answer is scored, one file each.

A `Task` that a module of this package registers has an environment, ``arena/NAME-v0``. `TaskSet`
holds the surveys of a corpus. The labels stay with it: no observation, tool or agent gets one.
"""

from arena.tasks.base import (
    PROMPT_LEVELS,
    TASKS,
    Gold,
    Survey,
    Task,
    environment_id,
    environment_ids,
    kinds_of_answers,
    stages_of,
    tools_of,
    topic_of,
)
from arena.tasks.scoring import (
    ENCODER,
    EXTRACTOR,
    can_score,
    compares_texts,
    evaluate_answers,
    evaluate_metric,
    ideal_answers,
    ideal_ranking,
    kind_of_metric,
    lower_is_better,
    measures,
    metric_function,
    ranking_of,
    score_answer,
    score_report,
    scored_stages,
)
from arena.tasks.task_set import TaskSet, choose_surveys, play_order, with_topic

__all__ = [
    "ENCODER",
    "EXTRACTOR",
    "PROMPT_LEVELS",
    "TASKS",
    "Gold",
    "Survey",
    "Task",
    "TaskSet",
    "can_score",
    "choose_surveys",
    "compares_texts",
    "environment_id",
    "environment_ids",
    "evaluate_answers",
    "evaluate_metric",
    "ideal_answers",
    "ideal_ranking",
    "kind_of_metric",
    "kinds_of_answers",
    "lower_is_better",
    "measures",
    "metric_function",
    "play_order",
    "ranking_of",
    "score_answer",
    "score_report",
    "scored_stages",
    "stages_of",
    "tools_of",
    "topic_of",
    "with_topic",
]
