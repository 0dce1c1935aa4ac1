"""Kernels that several engines share."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.kit.kernels import kth_largest


@given(st.lists(st.integers(-3, 3) | st.floats(allow_nan=False), min_size=1), st.data())
def test_the_kth_largest_is_that_of_a_sorted_list(numbers, data):
    values = np.array([*numbers, 9.0])  # the last is not counted
    k = data.draw(st.integers(1, len(numbers)))
    assert kth_largest(values, len(numbers), k) == sorted(numbers)[-k]
    assert values.tolist() == [*numbers, 9.0]
