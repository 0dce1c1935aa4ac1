"""Information Discovery (ResearchArena, section 5): find what the survey cites."""

from __future__ import annotations

from arena.tasks.base import Task, task


@task("discovery")
class Discovery(Task):
    """Find the papers that a survey cites (ResearchArena, section 5, Information Discovery)."""

    instruction = (
        "Find the papers that a survey of this topic should cite. Only papers from before the"
        " cutoff exist. Search and read, then submit the ids, best first."
    )
    metrics = ("recall@10", "recall@100", "precision@10", "precision@100")
    headline = "recall@100"
