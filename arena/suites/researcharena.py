"""ResearchArena: discovery, selection and organization of the papers of a survey."""

from arena.suites import SUITES, Suite

SUITES.register("researcharena")(
    Suite(
        title="discovery, selection and organization of the papers that a survey cites",
        paper="ResearchArena (arXiv 2406.10291), sections 3 to 6",
        source="researcharena",
        modes={
            "discovery": ("arena/Discovery-v0", {}),
            "selection": ("arena/Selection-v0", {}),
            "organization": ("arena/Organization-v0", {"references": "oracle"}),
        },
        metrics=(
            "recall@10", "recall@100", "precision@10", "precision@100",
            "ndcg@10", "ndcg@30", "ndcg@100", "mrr",
            "heading_soft_recall", "heading_entity_recall", "tree_semantic_distance",
        ),
        experiment="researcharena",
    )
)  # fmt: skip
