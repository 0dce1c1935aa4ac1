"""TaxoBench's rubric for taxonomies and its kinds of error, in other words.

Section 3.2 and appendix G; appendix E, Table 6.
"""

from pathlib import Path

from arena_suites.judging.judge import rubric


@rubric(
    "taxobench",
    dimensions=("coverage", "organization", "logic", "topology"),
    fields=("expert", "generated"),
)
def taxobench() -> str:
    """A taxonomy beside the experts': coverage, organization, logic, topology, 1 to 5."""
    return Path(__file__).with_name("rubric.txt").read_text(encoding="utf-8")


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


@rubric(
    "taxobench-errors",
    dimensions=ERRORS,
    fields=("expert", "generated"),
    scale=(0, 1),
    empty_is_lowest=False,
)
def taxobench_errors() -> str:
    """Which of 23 errors a taxonomy makes beside the experts', 0 or 1 each."""
    return Path(__file__).with_name("errors.txt").read_text(encoding="utf-8")
