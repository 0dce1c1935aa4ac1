"""Thematic Focus Similarity: do the references have the experts' themes, as often?"""

from __future__ import annotations

import numpy as np

from arena.bloom.base import Finding, Pair, one_to_one, pairs_schema, ratios, survey_metric
from arena.bloom.distributions import distribution_similarity
from arena.bloom.themes import Theme, themes_of
from arena.llm import Fields

LEAST_COSINE = 0.8
"""Of the centres of two themes: means of many vectors are closer than two texts are."""

_PAIRS = pairs_schema("matched_pairs", "expert_topic", "llm_topic")


@survey_metric(
    "tfsim",
    tier="comprehension",
    needs=("embeddings", "matcher"),
    columns=("f1", "precision", "recall", "ds"),
    prompts={"tfsim": Fields(("human", "generated"))},
)
def tfsim(pair: Pair) -> Finding:
    """Thematic Focus Similarity: the themes of both bibliographies, paired one-to-one, in [0, 1].

    Bloom-Eval, B.2 and A.1. By embedding, themes pair by the cosine of their centres, at least
    `LEAST_COSINE` and `Tools.threshold`; a judge pairs them by their typical words. ``ds`` is the
    distributional similarity of the numbers of references of the themes that are shared, None if
    none is. None for experts with fewer than five references.
    """
    human, generated = (themes_of(pair, side) for side in ("human", "generated"))
    pairs = _match(pair, human, generated)
    scores = ratios(len(pairs), len(human), len(generated))
    shared = [(len(human[i].works), len(generated[j].works)) for i, j in pairs]
    scores["ds"] = distribution_similarity(*zip(*shared, strict=True)) if shared else None
    mine, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
    rows = [(*_cells(human[i]), *_cells(generated[j])) for i, j in pairs]
    rows += [(*_cells(each), "", "") for i, each in enumerate(human) if i not in mine]
    rows += [("", "", *_cells(each)) for j, each in enumerate(generated) if j not in theirs]
    headers = ("experts' theme", "references", "generated theme", "references")
    reason = "" if shared else "the bibliographies share no theme."
    return Finding(scores, rows, headers, reason if human else "the experts' references form none.")


def _match(pair: Pair, human: list[Theme], generated: list[Theme]) -> list[tuple[int, int]]:
    if not human or not generated:
        return []
    if pair.tools.matcher == "judge":
        mine, theirs = ([theme.label for theme in side] for side in (human, generated))
        return pair.match_by_judge(mine, theirs, "tfsim", _PAIRS)
    centres = [np.stack([theme.centre for theme in side]) for side in (human, generated)]
    return one_to_one(centres[0] @ centres[1].T, max(LEAST_COSINE, pair.tools.threshold))


def _cells(theme: Theme) -> tuple[str, str]:
    return f"{theme.label}; such as {theme.central}", str(len(theme.works))
