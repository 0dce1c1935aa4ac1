"""BM25 in plain Python, written from the formula alone: the reference of all engines' tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from arena.retrieval import Scope
from arena.text import analyze

TermScore = Callable[[int, float, int, int, float], float]
"""(times in the query, idf, tf, length of the document, average length) -> what a term adds."""


def double(k1: float = 0.9, b: float = 0.4) -> TermScore:
    """Return the formula in double precision; the order of operations fixes the last bit."""

    def add(times: int, idf: float, tf: int, length: int, average: float) -> float:
        return times * idf * (tf / (tf + k1 * (1.0 - b + b * length / average)))

    return add


def lucene(k1: float = 0.9, b: float = 0.4) -> TermScore:
    """Return the formula in the single precision that Lucene works in, with lengths of one byte."""
    f = np.float32

    def add(times: int, idf: float, tf: int, length: int, average: float) -> float:
        weight = f(times) * f(idf)
        norm = f(k1) * (f(1) - f(b) + f(b) * f(one_byte(length)) / f(average))
        with np.errstate(divide="ignore"):  # k1 = 0
            return float(weight - weight / (f(1) + f(tf) * (f(1) / norm)))

    return add


def one_byte(length: int) -> int:
    """Return the length that Lucene remembers (SmallFloat.intToByte4 and back).

    Below 24 exactly; what is above 24 is cut to its four leading bits.
    """
    rest = length - 24
    if rest < 8:
        return length
    shift = rest.bit_length() - 4
    return 24 + (rest >> shift << shift)


def reference(
    papers: Sequence[str | None],
    query: str,
    k: int,
    scope: Scope,
    statistics: str = "cutoff",
    add: TermScore | None = None,
    rounded: Callable[[float], float] = float,
) -> tuple[list[int], list[float]]:
    """Score every visible document from scratch; return the best and their scores.

    Args:
        papers: Texts by document number; None for a paper that is not searchable.
        query: Query text.
        k: Number of documents at most.
        scope: Documents that exist.
        statistics: ``"cutoff"`` or ``"corpus"``.
        add: What a term adds to a score; `double` by default.
        rounded: Rounds a sum, before documents are ordered.
    """
    add = add or double()
    bags = {n: Counter(analyze(paper)) for n, paper in enumerate(papers) if paper is not None}
    visible = {n: bag for n, bag in bags.items() if n < scope.end and n not in scope.excluded}
    counted = visible if statistics == "cutoff" else bags
    average = sum(bag.total() for bag in counted.values()) / (len(counted) or 1) or 1.0
    sums: dict[int, float] = {}
    # In the order of their bytes: sums do not depend on the order of the words.
    for term, times in sorted(Counter(analyze(query)).items(), key=lambda item: item[0].encode()):
        df = sum(term in bag for bag in counted.values())
        idf = math.log(1 + (len(counted) - df + 0.5) / (df + 0.5))
        for number, bag in visible.items():
            if tf := bag[term]:
                sums[number] = sums.get(number, 0.0) + add(times, idf, tf, bag.total(), average)
    best = sorted((-rounded(score), number) for number, score in sums.items())[:k]
    return [number for _, number in best], [-score for score, _ in best]
