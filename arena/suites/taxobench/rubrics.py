"""TaxoBench's rubric for taxonomies and its kinds of error, in other words.

Section 3.2 and appendix G; appendix E, Table 6.
"""

from pathlib import Path

from arena.judging.judge import RUBRICS, Rubric

RUBRICS.register("taxobench")(
    Rubric(
        name="taxobench",
        title="A taxonomy beside the experts': coverage, organization, logic, topology, 1 to 5.",
        dimensions=("coverage", "organization", "logic", "topology"),
        fields=("expert", "generated"),
        prompt=Path(__file__).with_name("rubric.txt").read_text(encoding="utf-8"),
    )
)

ERRORS = (
    "missing_core_branches", "irrelevant_additions", "conceptual_deviation", "missing_subfields",
    "incomplete_recall",
    "semantic_overlap", "inconsistent_classification", "mece_violation", "blurred_boundaries",
    "over_fragmentation", "under_fragmentation",
    "abstraction_mismatch", "misplaced_nodes", "forced_hierarchy", "logical_inconsistency",
    "missing_intermediate", "inverted_relationships",
    "structural_imbalance", "over_expanded", "too_shallow", "under_expanded",
    "granularity_mismatch", "too_deep",
)  # fmt: skip
"""The kinds of error, in the order of Table 6."""

RUBRICS.register("taxobench-errors")(
    Rubric(
        name="taxobench-errors",
        title="Which of 23 errors a taxonomy makes beside the experts', 0 or 1 each.",
        dimensions=ERRORS,
        fields=("expert", "generated"),
        prompt=Path(__file__).with_name("errors.txt").read_text(encoding="utf-8"),
        scale=(0, 1),
        empty_is_lowest=False,
    )
)
