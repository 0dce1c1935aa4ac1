"""The tasks of ResearchArena, section 5, and ``survey``, all three in one episode."""

from arena.tasks.base import TASKS, Task

TASKS.register("discovery")(
    Task(
        description=(
            "Find the papers that a survey cites (ResearchArena, section 5, Information Discovery)."
        ),
        instruction=(
            "Find the papers that a survey of this topic should cite. Only papers from before "
            "the cutoff exist. Search and read, then submit the ids, best first."
        ),
        metrics=("recall@10", "recall@100", "precision@10", "precision@100"),
        headline="recall@100",
    )
)


TASKS.register("selection")(
    Task(
        description=(
            "Rank the papers that matter for a survey "
            "(ResearchArena, section 5, Information Selection)."
        ),
        instruction=(
            "Rank the papers that matter for a survey of this topic, the most influential "
            "first. Only papers from before the cutoff exist. Search and read, then submit the "
            "ids in your order."
        ),
        metrics=("ndcg@10", "ndcg@30", "ndcg@100", "mrr"),
        headline="ndcg@100",
    )
)


TASKS.register("organization")(
    Task(
        description=(
            "Draw the mind-map of a survey "
            "(ResearchArena, section 5, Information Organization)."
        ),
        instruction=(
            "Draw a mind-map of this topic: a tree of headings as a survey would have them, with "
            "the papers filed under the headings. Only papers from before the cutoff exist. Hand "
            "it in with organize."
        ),
        metrics=(
            "heading_soft_recall", "heading_soft_precision", "heading_soft_f1",
            "tree_edit_distance", "tree_semantic_distance", "normalised_tree_semantic_distance",
        ),
        headline="heading_soft_f1",
        answer="mind_map",
        reward="final",
        references="oracle",
    )
)  # fmt: skip


TASKS.register("survey")(
    Task(
        description=(
            "A survey in one episode "
            "(ResearchArena, section 5): discover, select, organize."
        ),
        instruction="Prepare a survey of this topic in three stages.",
        metrics=(
            "recall@10", "recall@100", "precision@10", "precision@100",
            "ndcg@10", "ndcg@30", "ndcg@100", "mrr",
            "heading_soft_recall", "heading_soft_precision", "heading_soft_f1",
            "tree_edit_distance", "tree_semantic_distance", "normalised_tree_semantic_distance",
            "survey_score",
        ),
        headline="survey_score",
        stages=("discovery", "selection", "organization"),
        reward="gain+final",
    )
)  # fmt: skip
