"""The three tasks of ResearchArena (section 5), and all of them in one episode."""

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


@task("organization")
class Organization(Task):
    """Draw the mind-map of a survey (ResearchArena, section 5, Information Organization)."""

    instruction = (
        "Draw a mind-map of this topic: a tree of headings as a survey would have them, with "
        "the papers filed under the headings. Only papers from before the cutoff exist. "
        "Submit it with organize."
    )
    metrics = (
        "paper_filing_agreement",
        "ari",
        "heading_soft_recall",
        "tree_edit_distance",
        "tree_semantic_distance",
    )
    headline = ("paper_filing_agreement", "heading_soft_recall")
    answer = "map"
    references = "oracle"


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
