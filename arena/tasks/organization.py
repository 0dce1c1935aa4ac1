"""Information Organization (ResearchArena, section 5): a mind-map of the topic."""

from __future__ import annotations

from arena.tasks.base import Task, task


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
