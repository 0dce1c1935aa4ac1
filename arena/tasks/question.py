"""Question: find the papers that answer a question."""

from __future__ import annotations

from arena.tasks.base import Task, task


@task("question")
class QuestionTask(Task):
    """Find the papers that answer a question (PaSa, section 5.2; ScholarGym, section 3.4)."""

    instruction = (
        "Find the papers that answer the question, or that a section on related work for this"
        " abstract should cite. Only papers from before the cutoff exist. Search and read, "
        "then submit the ids of these papers alone, best first."
    )
    metrics = ("recall", "precision", "f1", "recall@20", "recall@50", "recall@100")
    headline = "f1"
