"""The arithmetic that the exactness of the engine dense rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.retrieval.dense import _kernel
from arena.retrieval.dense._vectors import normalised

finite = np.arange(65536, dtype=np.uint16)
finite = finite[np.isfinite(finite.view(np.float16))]


def whole(first: np.ndarray, second: np.ndarray) -> float:
    """An inner product in whole numbers."""
    pairs = zip(first.astype(float) * 2.0**24, second.astype(float) * 2.0**24, strict=True)
    return sum(int(a) * int(b) for a, b in pairs) / 2**48


vectors = st.integers(1, 400).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.integers(0, 2**32 - 1),
        st.sampled_from([1.0, 8.0, 30.0]),  # how unequal the components are
    )
)


def pair(drawn: tuple[int, int, float]) -> np.ndarray:
    n, seed, power = drawn
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((2, n)) * 10.0 ** (-power * rng.random((2, n)))
    return normalised(values.astype(np.float32))


@settings(max_examples=100, deadline=None)
@given(vectors)
def test_a_float64_inner_product_is_exact_in_any_order(drawn):
    first, second = pair(drawn)
    expected = whole(first, second)
    a, b = first.astype(np.float64), second.astype(np.float64)
    assert np.dot(a, b) == expected
    assert (a * b).sum() == expected
    assert np.add.accumulate((a * b)[::-1])[-1] == expected
    assert np.add.accumulate(np.sort(a * b))[-1] == expected
    scores = np.empty(1)
    _kernel.exact(second.view(np.uint16)[None], np.zeros(1, np.int64), a, scores)
    assert scores[0] == expected


def test_normalised():
    given_ = np.array([[3, 4], [0, 0], [1e-30, 0], [-2e38, 2e38]], np.float32)
    found = normalised(given_)
    assert found.dtype == np.float16
    half = -np.float16(np.sqrt(0.5))
    expected = np.array([[0.6, 0.8], [0, 0], [1, 0], [half, -half]], np.float16)
    np.testing.assert_array_equal(found, expected)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 300)).astype(np.float32)
    together = normalised(rows)
    assert all(normalised(rows[i : i + 1]).tobytes() == together[i].tobytes() for i in range(50))
    plain = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    np.testing.assert_allclose(together.astype(float), plain, rtol=2.0**-11, atol=2.0**-25)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(DataError, match="NaN or an infinity"):
        normalised(np.array([[1, bad]], np.float32))
