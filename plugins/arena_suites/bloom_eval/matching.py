"""Items of two surveys side by side: which mean the same, and how alike that makes the surveys."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.kit.lazy import load
from arena.llm import ParseError, as_json


def one_to_one(cosines: NDArray[np.float64], threshold: float) -> list[tuple[int, int]]:
    """Return the places of the pairs with the greatest sum of cosines, in order."""
    optimize = load("scipy.optimize", "Bloom-Eval")
    # Sums of cosines below the threshold must not pay.
    gains = np.where(cosines >= threshold, cosines, 0.0)
    rows, columns = optimize.linear_sum_assignment(gains, maximize=True)
    places = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(i, j) for i, j in places if gains[i, j] > 0]


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Return what stands under ``expert...`` and ``llm...`` in each object of a JSON answer."""
    found, waiting, empty = [], [as_json(text)], False
    while waiting:
        value = waiting.pop(0)
        empty = empty or value == []
        if isinstance(value, dict):
            pair = [
                next((v for k, v in value.items() if k.startswith(side) and type(v) is str), None)
                for side in ("expert", "llm")
            ]
            if pair[0] is not None and pair[1] is not None:
                found.append((pair[0], pair[1]))
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    if not found and not empty:
        raise ParseError("There is no pair of texts in it, and no empty list.")
    return found


def side_by_side(
    pairs: Sequence[tuple[int, int]],
    human: Sequence[tuple[str, ...]],
    generated: Sequence[tuple[str, ...]],
) -> list[tuple[str, ...]]:
    """Return the cells of each pair in a row, then those of items without a partner, with blanks.

    >>> side_by_side([(1, 0)], [("a",), ("b",)], [("B",)])
    [('b', 'B'), ('a', '')]
    """
    ours, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
    rows = [(*human[i], *generated[j]) for i, j in pairs]
    rows += [(*cells, *[""] * len(cells)) for i, cells in enumerate(human) if i not in ours]
    rows += [(*[""] * len(cells), *cells) for j, cells in enumerate(generated) if j not in theirs]
    return rows


def ratios(
    matched: int, human: int, generated: int, partners: int | None = None
) -> dict[str, float | None]:
    """Return ``f1``, ``precision`` and ``recall`` of items that match one-to-one.

    None if the experts' survey has no item; 0 if the generated one has none. Where an item may be
    in several pairs, `matched` counts the experts' items in any, `partners` the generated ones.

    >>> ratios(1, 2, 4)
    {'f1': 0.3333333333333333, 'precision': 0.25, 'recall': 0.5}
    """
    if not human:
        return dict.fromkeys(("f1", "precision", "recall"))
    recall, f1 = matched / human, 2 * matched / (human + generated)
    precision = (matched if partners is None else partners) / (generated or 1)
    if partners is not None:
        f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
    return {"f1": f1, "precision": precision, "recall": recall}


def distribution_similarity(expert: Sequence[float], generated: Sequence[float]) -> float:
    """Return DS of two vectors of counts of the same items, in [0, 1]; 1 for the same shares.

    The mean of 1 - JSD/ln 2, 1 - Hellinger distance and 1 - total variation of the shares,
    equations 1 and 2; 0 if a side counts nothing, as in the released code.

    >>> distribution_similarity([1, 2], [2, 4]), distribution_similarity([1, 0], [0, 5])
    (1.0, 0.0)
    """
    if not sum(expert) or not sum(generated):
        return 0.0
    p, q = (np.array(counts, dtype=float) / sum(counts) for counts in (expert, generated))
    middle = (p + q) / 2
    sides = (share[share > 0] * np.log(share[share > 0] / middle[share > 0]) for share in (p, q))
    divergence = sum(float(side.sum()) for side in sides) / 2
    hellinger = math.sqrt(float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()) / 2)
    variation = float(np.abs(p - q).sum()) / 2
    likeness = 1 - (divergence / math.log(2) + hellinger + variation) / 3
    return min(1.0, max(0.0, likeness))
