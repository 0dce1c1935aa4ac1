"""Outline Topic Coverage: are the experts' headings in the generated outline?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, pairs_schema, ratios, survey_metric
from arena.bloom.outline import headings
from arena.llm import Fields


@survey_metric(
    "otc",
    tier="comprehension",
    needs=("matcher",),
    columns=("f1", "precision", "recall"),
    prompts={"otc": Fields(("human", "generated"))},
)
def otc(pair: Pair) -> Finding:
    """Outline Topic Coverage: F1 of the headings that mean the same, one-to-one, in [0, 1].

    Bloom-Eval, appendix B.2: 2 x pairs / (experts' headings + generated ones). The title is left
    out, and so are section numbers. None for experts without an outline, 0 for a generated survey
    without one.

    Raises:
        JudgeFailedError: The judge has no readable answer.
    """
    human, generated = (
        [heading.text for heading in headings(article) if heading.text]
        for article in pair.sides.values()
    )
    if not human:
        return Finding(ratios(0, 0, 0), reason="the experts' survey has no outline.")
    form = pairs_schema("matched_pairs", "expert_heading", "llm_heading")
    matched = pair.match(human, generated, "otc", form)
    ours, theirs = {i for i, _ in matched}, {j for _, j in matched}
    rows = [(human[i], generated[j]) for i, j in matched]
    rows += [(text, "") for i, text in enumerate(human) if i not in ours]
    rows += [("", text) for j, text in enumerate(generated) if j not in theirs]
    scores = ratios(len(matched), len(human), len(generated))
    return Finding(scores, rows, ("experts' heading", "generated heading"))
