"""Information Selection (ResearchArena, section 5): rank the papers by their importance."""

from __future__ import annotations

from arena.tasks.base import Task, task


@task("selection")
class Selection(Task):
    """Rank the papers that matter for a topic (ResearchArena, section 5, Selection)."""

    instruction = (
        "Rank the papers that matter for a survey of this topic, the most influential first. "
        "Only papers from before the cutoff exist. Search and read, then submit the ids in "
        "your order."
    )
    metrics = ("ndcg@10", "ndcg@30", "ndcg@100", "mrr")
    headline = "ndcg@100"
