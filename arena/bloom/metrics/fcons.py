"""Factual Consistency: does the survey state the facts that the experts state?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, pairs_schema, survey_metric
from arena.bloom.extraction import match_claims
from arena.llm import Fields

_PAIRS = pairs_schema("matched_pairs", "expert_factual_claims", "llm_factual_claims")


@survey_metric(
    "fcons",
    tier="memory",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall"),
    prompts={"fcons": Fields(("text",)), "fcons-match": Fields(("human", "generated"))},
)
def fcons(pair: Pair) -> Finding:
    """Factual Consistency: the share of factual statements that both surveys make, in [0, 1].

    Bloom-Eval, B.1: a judge lists the factual statements of both, the matcher pairs those that
    assert the same; F1, precision and recall; see `match_claims`.
    """
    return match_claims(pair, "fcons", "factual_statements", "fcons-match", _PAIRS)
