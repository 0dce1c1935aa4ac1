"""Likeness of distributions, beside values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_suites.bloom_eval.matching import distribution_similarity

COUNTS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=1, max_size=9)


def test_half_of_one_side_is_elsewhere() -> None:
    # P = (1, 0), Q = (1/2, 1/2), M = (3/4, 1/4): KL(P|M) = ln 4/3, KL(Q|M) = ln(4/3)/2;
    # in bits JSD = 3/4 log2(4/3); Hellinger sqrt(1 - sqrt(1/2)); variation 1/2
    divergence = 3 / 4 * math.log2(4 / 3)
    expected = 1 - (divergence + math.sqrt(1 - math.sqrt(0.5)) + 0.5) / 3
    assert expected == pytest.approx(0.5492, abs=1e-4)
    assert distribution_similarity([7, 0], [3, 3]) == pytest.approx(expected)


@given(COUNTS)
def test_it_is_symmetric_and_between_0_and_1(counts: list[tuple[int, int]]) -> None:
    ours, theirs = ([pair[side] for pair in counts] for side in (0, 1))
    found = distribution_similarity(ours, theirs)
    assert found == distribution_similarity(theirs, ours)
    assert found == 0 or (any(ours) and any(theirs))
    assert 0 <= found <= 1
    assert distribution_similarity(ours, ours) == (1.0 if any(ours) else 0.0)
