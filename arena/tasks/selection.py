"""Information Selection (ResearchArena, section 5): rank the papers by their importance."""

from arena.tasks.base import TASKS, Task

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
