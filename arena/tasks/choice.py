"""Which surveys to play or score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.errors import DataError, clip
from arena.tasks.task_set import TaskSet


def choose_surveys(
    tasks: TaskSet, surveys: Sequence[str] | int | None, among: Sequence[str] | None = None
) -> list[str]:
    """Return survey ids in order, from ids, a number of surveys, or None for all.

    Args:
        tasks: the surveys.
        surveys: ids, which may be any of the corpus; or how many; or None.
        among: the ids, in order, that a number counts and None stands for; by default all.

    Raises:
        UnknownNameError: if an id is unknown.
        DataError: if it is none of these, the number is out of range or no survey is named.
    """
    counted = list(tasks.surveys if among is None else among)
    if surveys is None:
        return counted
    if isinstance(surveys, str):
        raise DataError(f"surveys={clip(surveys)} is one string; give a list of ids.")
    if isinstance(surveys, bool) or not isinstance(surveys, int | Iterable):
        raise DataError(f"surveys={clip(surveys)}: give a list of ids, or how many.")
    if isinstance(surveys, int):
        if not 1 <= surveys <= len(counted):
            which = "" if among is None else " that can be scored"
            raise DataError(
                f"surveys={surveys}: the corpus has {len(counted)} surveys{which}. Give 1 to "
                f"{len(counted)}."
            )
        return counted[:surveys]
    chosen = {tasks.survey(survey_id).id for survey_id in surveys}
    if not chosen:
        raise DataError("no survey is named. Give ids, a number, or nothing for all.")
    return sorted(chosen)
