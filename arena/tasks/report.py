"""A cited report on a topic."""

from __future__ import annotations

from arena.tasks.base import Task, task


@task("report")
class Report(Task):
    """Write a report that cites the papers that a survey cites."""

    instruction = (
        "Write a report on this topic that cites the papers on which it rests. Only papers "
        "from before the cutoff exist. Search and read, write sections with write, and cite "
        "papers by id, as in [@id] or [@id; @other]. Submit with submit_report; what is "
        "written is submitted, too, where the episode ends without that."
    )
    metrics = (
        "reference_f1",
        "reference_precision",
        "reference_recall",
        "reference_count",
        "cited_statements",
        "uncited_statements",
        "late_rate",
        "undated_rate",
        "self_rate",
        "survey_rate",
        "fabricated_rate",
        "unseen_rate",
        "unresolved_count",
    )
    headline = "reference_f1"
    answer = "report"
