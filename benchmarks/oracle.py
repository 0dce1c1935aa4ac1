"""The answers every engine must give, computed the slow way in float64 from the tokens alone.

Nothing here is shared with an engine: neither postings, nor formulas, nor vectors in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arena.retrieval.base import Ranking
from benchmarks.collection import Collection
from benchmarks.engines import Convention, Engine
from benchmarks.vectors import half, load_vectors, query_vectors

_ROWS = 16_384  # of the vectors at a time, in float64


class LexicalOracle:
    """BM25 in the form that `convention` names."""

    def __init__(self, collection: Collection, convention: Convention) -> None:
        self._collection, self._convention = collection, convention
        exact = np.asarray(collection.lengths, np.int64)
        self._before = np.concatenate([[0], np.cumsum(exact)])
        self._lengths = (byte_lengths(exact) if convention.lengths == "byte" else exact).astype(
            np.float64
        )

    def scores(self, query: int, end: int) -> NDArray[np.float64]:
        """Return the score of every document below `end`; 0 where no term matches."""
        k1, b, factor, statistics, _ = self._convention
        horizon = end if statistics == "cutoff" else self._collection.documents
        total = np.zeros(end)
        if not horizon:
            return total
        average = self._before[horizon] / horizon
        for term, repeats in sorted(Counter(self._collection.queries[query].terms).items()):
            docs, tfs = self._collection.postings(term)
            df = np.count_nonzero(docs < horizon)
            idf = np.log(1 + (horizon - df + 0.5) / (df + 0.5))
            visible = docs < end
            docs, tf = docs[visible], tfs[visible].astype(np.float64)
            norm = k1 * (1 - b + b * self._lengths[docs] / average)
            total[docs] += repeats * idf * factor * tf / (tf + norm)  # a document once a term
        return total

    def alike(self, query: int, document: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of `others` that every BM25 scores as `document`: same length and tfs."""
        same = self._collection.lengths[others] == self._collection.lengths[document]
        for term in set(self._collection.queries[query].terms):
            docs, tfs = self._collection.postings(term)
            own, theirs = (_at(docs, tfs, d) for d in (np.array([document]), others))
            same &= own == theirs
        matching: NDArray[np.int64] = others[same]
        return matching


def _at(
    docs: NDArray[np.uint32], tfs: NDArray[np.uint32], wanted: NDArray[np.int64]
) -> NDArray[np.uint32]:
    place = np.minimum(np.searchsorted(docs, wanted.astype(np.uint32)), max(len(docs) - 1, 0))
    if not len(docs):
        return np.zeros(len(wanted), np.uint32)
    return np.where(docs[place] == wanted, tfs[place], np.uint32(0))


def dense_scores(
    vectors: NDArray[np.float16], queries: NDArray[np.float32], end: int
) -> NDArray[np.float64]:
    """Return inner products of shape (queries, end) with the vectors as they are stored."""
    scores = np.empty((len(queries), end))
    wanted = queries.astype(np.float64)
    for low in range(0, end, _ROWS):
        rows = vectors[low : min(low + _ROWS, end)].astype(np.float64)
        scores[:, low : low + len(rows)] = wanted @ rows.T
    return scores


def byte_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round lengths down as Lucene's SmallFloat.intToByte4 does, and Tantivy with it.

    Up to 40 a length is kept; above, 24 less than it is kept to its four leading binary digits.

    >>> byte_lengths(np.array([7, 40, 41, 43, 154, 1000])).tolist()
    [7, 40, 40, 42, 152, 984]
    """
    rest = np.maximum(lengths - 24, 0)
    drop = np.maximum(np.floor(np.log2(np.maximum(rest, 1))).astype(np.int64) - 3, 0)
    rounded: NDArray[np.int64] = np.where(lengths < 24, lengths, 24 + ((rest >> drop) << drop))
    return rounded


_QUERIES = 16  # whose scores are held at a time: 8 bytes each for every document

Alike = Callable[[int, NDArray[np.int64]], NDArray[np.int64]]
"""(document, others) -> those of `others` that must score as it does."""


def first_difference(
    ranking: Ranking,
    oracle: NDArray[np.float64],
    k: int,
    engine: type[Engine],
    alike: Alike | None = None,
) -> str | None:
    """Return how `ranking` differs from the oracle's best `k`, or None.

    The scores at each rank must be the oracle's, and so must be the score of each document given
    there, so that only documents that tie within the tolerance may change places, also across the
    cut. If the engine promises to break ties, equal scores must come in document order, and no
    lower document that has the length and frequencies of the last one may be missing.

    Args:
        ranking: what the engine returned.
        oracle: float64, the score of each document before the cutoff.
        k: how many were asked for.
        engine: for its family, tolerance and promise.
        alike: see `Alike`; needed to check ties at the cut.
    """
    documents, scores = (np.asarray(column) for column in ranking)
    lexical = engine.family == "lexical"
    count = min(k, np.count_nonzero(oracle > 0) if lexical else len(oracle))
    if len(documents) != count or len(scores) != count:
        return f"it returns {len(documents)} documents, the oracle {count}"
    if count == 0:
        return None
    if documents.min() < 0 or documents.max() >= len(oracle):
        worst = documents.min() if documents.min() < 0 else documents.max()
        return f"it returns document {worst}, the cutoff is at {len(oracle)}"
    if len(np.unique(documents)) < count:
        return "it returns a document twice"
    best = np.sort(np.partition(oracle, len(oracle) - count)[len(oracle) - count :])[::-1]
    allowed = engine.tolerance * (np.abs(best) if lexical else 1.0)
    for name, values in (("score", scores), ("true score", oracle[documents])):
        wrong = ~(np.abs(values - best) <= allowed)  # a score that is not a number is wrong
        if wrong.any():
            rank = int(np.argmax(wrong))
            return (
                f"at rank {rank + 1} document {documents[rank]} has the {name} "
                f"{values[rank]:.9g}, the oracle's best has {best[rank]:.9g}"
            )
    off = ~(np.abs(scores - oracle[documents]) <= allowed)
    if off.any():
        rank = int(np.argmax(off))
        return (
            f"it gives document {documents[rank]} the score {scores[rank]:.9g}, "
            f"the oracle {oracle[documents[rank]]:.9g}"
        )
    if not engine.breaks_ties:
        return None
    steps = np.diff(scores)
    if (steps > 0).any() or (np.diff(documents)[steps == 0] < 0).any():
        return "its ranking is not by score and then by document"
    if alike is not None:
        last = int(documents[-1])
        tied = np.flatnonzero(oracle[:last] == oracle[last])
        left_out = np.setdiff1d(alike(last, np.setdiff1d(tied, documents)), documents)
        if len(left_out):
            return f"document {left_out[0]} ties with the last, {last}, and is left out"
    return None


def check(engine: Engine, collection: Collection, k: int, percents: list[float]) -> str | None:
    """Search every query at every cutoff, alone and in batches; return the first difference."""
    texts = [query.text for query in collection.queries]
    for percent in percents:
        end = collection.end(percent)
        engine.prepare(end)
        together = engine.batch(texts, k, end)
        if len(together) != len(texts):
            return f"a batch of {len(texts)} queries returns {len(together)} rankings"
        for number, oracle, alike in _answers(type(engine), collection, end):
            alone = engine.search(texts[number], k, end)
            for how, ranking in (("alone", alone), ("in a batch", together[number])):
                difference = first_difference(ranking, oracle, k, type(engine), alike)
                if difference:
                    return (
                        f"{percent:g} % before the cutoff, query {texts[number][:60]!r} {how}: "
                        f"{difference}"
                    )
    return None


def _answers(engine: type[Engine], collection: Collection, end: int):  # type: ignore[no-untyped-def]
    """Yield (number of the query, oracle scores, `Alike` or None)."""
    numbers = range(len(collection.queries))
    if engine.family == "lexical":
        oracle = LexicalOracle(collection, engine.convention)
        for number in numbers:
            yield (
                number,
                oracle.scores(number, end),
                lambda document, others, n=number: oracle.alike(n, document, others),
            )
        return
    vectors = load_vectors(collection)
    for low in range(0, len(numbers), _QUERIES):
        some = numbers[low : low + _QUERIES]
        wanted = query_vectors([collection.queries[number].text for number in some])
        if engine.rounds_queries:
            wanted = half(wanted).astype(np.float32)
        for number, scores in zip(some, dense_scores(vectors, wanted, end), strict=True):
            yield number, scores, None
