"""Whether an engine answers as the oracle does; it is not timed before it has passed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arena.bench._collection import Collection
from arena.bench._oracle import LexicalOracle, dense_scores
from arena.bench.engines.base import Engine
from arena.retrieval.base import Ranking

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
    lower document that it cannot tell from the last one may be missing.

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
    from arena.bench._vectors import half, load_vectors, query_vectors

    vectors = load_vectors(collection)
    for low in range(0, len(numbers), _QUERIES):
        some = numbers[low : low + _QUERIES]
        wanted = query_vectors([collection.queries[number].text for number in some])
        if engine.rounds_queries:
            wanted = half(wanted).astype(np.float32)
        for number, scores in zip(some, dense_scores(vectors, wanted, end), strict=True):
            yield number, scores, None
