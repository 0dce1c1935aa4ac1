"""The claims of both surveys side by side: facts, and criticism."""

from __future__ import annotations

from typing import Any

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.extraction import extract
from arena.bloom.matching import pairs_schema, ratios, side_by_side
from arena.llm import Fields


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
    form = pairs_schema("matched_pairs", "expert_factual_claims", "llm_factual_claims")
    return match_claims(pair, "fcons", "factual_statements", form)


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
    form = pairs_schema(
        "matched_critical_pairs", "expert_critical_statement", "llm_critical_statement"
    )
    return match_claims(pair, "caa", "critical_statements", form)


def match_claims(pair: Pair, prompt: str, key: str, schema: dict[str, Any]) -> Finding:
    """Return F1, precision and recall of the claims that both surveys make.

    Each distinct claim counts once, and so does each in the pairs; with `Tools.official` all pairs
    of the judge count, repeated ones too, so that a score can exceed 1. Rows say of each claim
    whether its survey has it word for word.

    Args:
        pair: The surveys.
        prompt: Template that finds the claims; ``PROMPT-match`` pairs them.
        key: Key of their list in its answers.
        schema: JSON schema of the pairs.

    Raises:
        JudgeFailedError: The judge has no readable answer.
    """
    found = extract(pair, prompt, [key])
    claims = {
        side: list({text.casefold(): text for text in reversed(each.items[key])}.values())[::-1]
        for side, each in found.items()
    }
    human, generated = claims["human"], claims["generated"]
    match = pair.judged_pairs if pair.tools.official else pair.match
    pairs = match(human, generated, f"{prompt}-match", schema)
    rows = []
    for texts in side_by_side(pairs, [(text,) for text in human], [(text,) for text in generated]):
        sides = zip(found.values(), texts, strict=True)
        held = ["yes" if survey.holds(text) else "no" for survey, text in sides if text]
        rows.append((*texts, ", ".join(held)))
    if any(each.unread for each in found.values()):
        rows.append((found["human"].unread, found["generated"].unread, ""))
    scores = ratios(len(pairs), len(human), len(generated))
    reason = "" if human else "the judge finds no such claim in the experts' survey."
    return Finding(scores, rows, ("experts", "generated", "word for word"), reason)
