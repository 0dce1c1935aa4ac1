"""A topic in one episode: discovery, then selection, then organization, end to end."""

from __future__ import annotations

from arena.tasks.base import Task, task


@task("pipeline")
class Pipeline(Task):
    """A topic in one episode (ResearchArena, section 5): discover, select, organize."""

    instruction = "Prepare a survey of this topic in three stages."
    metrics = (
        "recall@10",
        "recall@100",
        "precision@10",
        "precision@100",
        "ndcg@10",
        "ndcg@30",
        "ndcg@100",
        "mrr",
        "paper_filing_agreement",
        "ari",
        "heading_soft_recall",
        "tree_edit_distance",
        "tree_semantic_distance",
        "pipeline_score",
    )
    headline = "pipeline_score"
    parts = ("discovery", "selection", "organization")
