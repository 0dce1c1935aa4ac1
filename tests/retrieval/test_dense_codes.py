"""8-bit codes: what they leave open is bounded, and the rankings are those of float64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.retrieval.dense import _flat
from arena.retrieval.dense._codes import encode_rows, shorten
from arena.retrieval.dense._flat import FlatSearch, RowRequest
from arena.retrieval.dense._vectors import normalised


def rows_of(kind: str, rows: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of length 1 or 0 that are hard to encode or to tell apart."""
    values = rng.standard_normal((rows, dimension))
    if kind == "one large":  # all others have small codes, or the code 0
        values *= 2.0 ** -rng.integers(2, 24, (rows, 1))
        values[:, rng.integers(dimension)] = rng.choice([-1, 1], rows)
    elif kind == "unequal":  # down to subnormal float16 components and zeros
        values *= 10.0 ** (-9 * rng.random((rows, dimension)))
    elif kind == "halves":  # components halfway between two codes
        values = rng.integers(-127, 127, (rows, dimension)) + 0.5
        values[:, 0] = 127
    elif kind == "near":  # so near that neither codes nor float32 tell the order
        values = rng.standard_normal(dimension) + 1e-3 * values
    elif kind == "equal":
        values = values[rng.integers(0, min(3, rows), rows)]
    values[rng.random(rows) < 0.1] = 0
    return normalised(values.astype(np.float32))


kinds = st.sampled_from(["plain", "one large", "unequal", "halves", "near", "equal"])
seeds = st.integers(0, 2**32 - 1)


def fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


@settings(max_examples=30, deadline=None)
@given(kind=kinds, dimension=st.integers(1, 130), seed=seeds)
def test_no_score_is_further_off_than_the_bound(kind, dimension, seed):
    """In fractions, so nothing rounds here."""
    rng = np.random.default_rng(seed)
    vectors = rows_of(kind, 4, dimension, rng)
    query = rows_of(kind, 9, dimension, rng).astype(np.float64)
    query = next((q for q in query if q.any()), np.eye(dimension)[0])
    numbers, step, length, slack = shorten(query)
    codes, bounds = encode_rows(vectors)
    assert codes.shape[1] == len(numbers) == -(-dimension // 64) * 64
    assert not codes[:, dimension:].any()
    assert not numbers[dimension:].any()
    wanted = fractions(query)
    for vector, code, (scale, residual) in zip(vectors, codes.tolist(), bounds, strict=True):
        exact, s = fractions(vector), Fraction(float(scale))
        lost = sum((d - s * c) ** 2 for d, c in zip(exact, code, strict=False))
        assert lost <= Fraction(float(residual)) ** 2
        score = sum(q * d for q, d in zip(wanted, exact, strict=True))
        product = sum(p * c for p, c in zip(numbers.tolist(), code, strict=True))
        assert abs(product) < 2**31
        bound = Fraction(float(np.float32(length) * residual)) + Fraction(slack)
        rough = np.float32(product) * (scale * np.float32(step))
        assert abs(score - Fraction(float(rough))) <= bound


@settings(max_examples=30, deadline=None)
@given(kind=kinds, dimension=st.sampled_from([1, 3, 64, 100]), seed=seeds, data=st.data())
def test_rankings_are_those_of_float64(kind, dimension, seed, data):
    """Bit for bit, with ties, through several blocks and many clearings of candidates."""
    rng = np.random.default_rng(seed)
    vectors = rows_of(kind, data.draw(st.integers(1, 60) | st.integers(2000, 4500)), dimension, rng)
    if data.draw(st.booleans()):  # the best come last, so all are candidates
        vectors = vectors[np.argsort(vectors[:, 0])]
    query = vectors[rng.integers(len(vectors))]
    query = query if query.any() else np.eye(dimension, dtype=np.float16)[0]
    end = data.draw(st.integers(1, len(vectors)))
    excluded = np.unique(rng.integers(0, end, data.draw(st.integers(0, 5))))
    k = max(1, min(data.draw(st.integers(1, 30) | st.integers(1, end)), end - len(excluded)))
    if len(excluded) == end:
        excluded = excluded[1:]
    scores = vectors.astype(np.float64) @ query.astype(np.float64)
    asked = [RowRequest(query, k, end, excluded)]
    for other in rng.integers(1, len(vectors) + 1, data.draw(st.integers(0, 20))).tolist():
        asked.append(RowRequest(query, max(1, min(k, other)), other, excluded[:0]))
    flat = FlatSearch(vectors, encode_rows(vectors))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_flat, "_SPARE", data.draw(st.sampled_from([1, 7, 512])))
        patch.setattr(_flat, "_FEW", data.draw(st.sampled_from([0, 2, 7])))
        patch.setenv("OMP_NUM_THREADS", data.draw(st.sampled_from(["1", "2", "2,1"])))
        for request, found in zip(asked, flat.search(asked), strict=True):
            left = np.setdiff1d(np.arange(request.end), request.excluded)
            order = left[np.lexsort((left, -scores[left]))][: request.k]
            assert found.rows.tolist() == order.tolist()
            assert found.scores.tobytes() == scores[order].tobytes()


@pytest.mark.parametrize("queries", [2, 3, 8, 9, 64])
def test_queries_of_a_batch_do_not_show_in_each_other(queries):
    rng = np.random.default_rng(queries)
    vectors, none = rows_of("plain", 1500, 70, rng), np.empty(0, np.int64)
    flat = FlatSearch(vectors, encode_rows(vectors))
    asked = [
        RowRequest(normalised(rng.standard_normal((1, 70)).astype(np.float32))[0], 20, end, none)
        for end in rng.integers(20, 1501, queries).tolist()
    ]
    for request, found in zip(asked, flat.search(asked), strict=True):
        (alone,) = flat.search([request])
        assert found.rows.tolist() == alone.rows.tolist()
        assert found.scores.tobytes() == alone.scores.tobytes()
