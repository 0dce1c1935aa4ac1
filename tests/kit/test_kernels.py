"""Kernels that several engines share."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.kit.kernels import descending, kth_largest


@given(st.lists(st.integers(-3, 3) | st.floats(allow_nan=False), min_size=1), st.data())
def test_the_kth_largest_is_that_of_a_sorted_list(numbers, data):
    values = np.array([*numbers, 9.0])  # the last is not counted
    k = data.draw(st.integers(1, len(numbers)))
    assert kth_largest(values, len(numbers), k) == sorted(numbers)[-k]
    assert values.tolist() == [*numbers, 9.0]


@given(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 2.0, 3.25]), max_size=70), st.data())
def test_places_are_in_descending_order_of_values_and_equal_ones_as_they_came(numbers, data):
    count = data.draw(st.integers(0, len(numbers)))
    places = descending(np.array(numbers), count)
    assert list(places) == sorted(range(count), key=lambda place: -numbers[place])
