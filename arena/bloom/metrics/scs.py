"""Structural Clarity: does the generated outline say the same in two places?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arena.bloom.article import Heading
from arena.bloom.base import Finding, JudgeFailedError, Pair, survey_metric
from arena.bloom.outline import headings, parents, unnumbered
from arena.llm import Failed, Fields, ParseError, as_json
from arena.llm.schemas import TEXT, object_schema

_LEAST_COSINE = 0.9
_HEADERS = ("heading", "below", "heading that means the same", "below")


@survey_metric("scs", tier="analysis", needs=("matcher",), prompts={"scs": Fields(("outline",))})
def scs(pair: Pair) -> Finding:
    """Structural Clarity: share of the generated headings that repeat none elsewhere, in (0, 1].

    1 - N_redundant / N_total, Bloom-Eval, equation 11: of headings that mean the same and do not
    share an immediate parent, all but one are redundant. For three that mean the same these are 2,
    where the paper counts 3 pairs, and may fall below zero; for disjoint pairs both are equal.
    `Tools.official` counts pairs, repeated ones too. The title and section numbers do not count.

    With ``matcher="judge"`` a judge names the pairs, as in the paper. With ``embedding``, which is
    ours, they are those with a cosine of at least 0.9: in one outline headings of other meaning
    share many words. 0 for a survey without an outline.

    Raises:
        JudgeFailedError: The judge has no readable answer.
    """
    outline = headings(pair.generated)
    total = sum(bool(heading.text) for heading in outline)
    if not total:
        return Finding({"": 0.0}, headers=_HEADERS)
    above = parents(outline)
    groups = _by_judge(pair, outline) if pair.tools.matcher == "judge" else _alike(pair, outline)
    apart = [[(i, j) for i, j in group if above[i] != above[j]] for group in groups]
    unique = sorted({(min(each), max(each)) for group in apart for each in group})
    first = list(range(len(outline)))  # of the headings that mean the same
    for i, j in unique:
        first = [first[i] if place == first[j] else place for place in first]
    redundant = sum(map(bool, apart)) if pair.tools.official else len(first) - len(set(first))
    title = pair.generated.title
    shown = [
        (each.text, outline[k].text if k >= 0 else title)
        for each, k in zip(outline, above, strict=True)
    ]
    rows = [(*shown[i], *shown[j]) for i, j in unique]
    return Finding({"": 1 - redundant / total}, rows, _HEADERS)


def _alike(pair: Pair, outline: Sequence[Heading]) -> list[list[tuple[int, int]]]:
    texts = [heading.text for heading in outline]
    pairs = np.argwhere(np.triu(pair.cosines(texts, texts) >= _LEAST_COSINE, 1)).tolist()
    return [[(i, j)] for i, j in pairs]


def _by_judge(pair: Pair, outline: Sequence[Heading]) -> list[list[tuple[int, int]]]:
    """Return for each pair that the judge names the places that it may mean."""
    lines = [f"{'  ' * (each.level - 1)}- {each.text}" for each in outline if each.text]
    item = object_schema(heading_1=TEXT, heading_2=TEXT)
    form = object_schema(redundant_pairs={"type": "array", "items": item})
    (answer,) = pair.ask("scs", [{"outline": "\n".join(lines)}], _read, form)
    if isinstance(answer, Failed):
        raise JudgeFailedError(f"the judge named no pairs: {answer.reason}")
    places: dict[str, list[int]] = {}
    for place, heading in enumerate(outline):
        if heading.text:
            places.setdefault(heading.text.casefold(), []).append(place)
    named = [[places.get(unnumbered(text).casefold(), []) for text in each] for each in answer]
    return [[(i, j) for i in ours for j in theirs if i != j] for ours, theirs in named]


def _read(text: str) -> list[tuple[str, str]]:
    answer = as_json(text)
    pairs: Any = answer.get("redundant_pairs") if isinstance(answer, dict) else answer
    try:
        return [(str(each["heading_1"]), str(each["heading_2"])) for each in pairs]
    except (KeyError, TypeError):
        raise ParseError("There is no list of redundant_pairs in it.") from None
