"""Critical Analysis Alignment: does the survey criticize what the experts criticize?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, pairs_schema, survey_metric
from arena.bloom.extraction import match_claims
from arena.llm import Fields

_PAIRS = pairs_schema(
    "matched_critical_pairs", "expert_critical_statement", "llm_critical_statement"
)


@survey_metric(
    "caa",
    tier="evaluation",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall"),
    prompts={"caa": Fields(("text",)), "caa-match": Fields(("human", "generated"))},
)
def caa(pair: Pair) -> Finding:
    """Critical Analysis Alignment: the share of critical statements of both surveys, in [0, 1].

    Bloom-Eval, B.5: a judge lists the statements of both on limitations, flaws and gaps, the
    matcher pairs those that say the same; F1, precision and recall; see `match_claims`.
    """
    return match_claims(pair, "caa", "critical_statements", "caa-match", _PAIRS)
