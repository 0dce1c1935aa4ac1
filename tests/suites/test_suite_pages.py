"""Pages of suites: what people read first, and what must not mislead them."""

from __future__ import annotations

import re

import pytest

from arena.results.comparison.report import means, verdict
from arena.results.comparison.systems import compare_systems
from arena.results.viewing import as_page
from arena.results.viewing.drawing import Axis
from arena.suites import Evaluation


def scored(lower=None, **columns):
    """Return scores of the topics 1, 2, ... by metric."""
    topics = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    mean = {name: sum(values) / len(values) for name, values in columns.items()}
    rows = {str(n): row for n, row in enumerate(topics, 1)}
    return Evaluation(mean, rows, [], lower_is_better=lower or {})


def page(systems, suite="toy"):
    return as_page(compare_systems(suite, systems)).html.partition("<script>")[0]


def bold(systems):
    table = means(compare_systems("toy", systems))
    return {(table.header[c], table.rows[r][0]) for r, c in table.bold}


def test_the_head_says_who_and_on_how_many_and_a_verdict_follows():
    systems = {"<b>a</b>": scored(f1=[0.5, 0.5, 0.5]), "b": scored(f1=[0.5, 1.0, 0.75])}
    html = page(systems)
    assert "<h1>toy: <bdi>&lt;b&gt;a&lt;/b&gt;; b</bdi> <small>3 topics</small></h1>" in html
    said = "b has a better mean f1 than &lt;b&gt;a&lt;/b&gt; over 3 topics: 0.7500 against 0.5000"
    assert f'<p class="verdict"><bdi>{said}' in html and "<b>a" not in html
    assert "shows the labels" not in html and "oracle" not in html


def test_only_what_alone_is_best_is_marked():
    a = scored({"late": True}, f1=[0.4, 0.6], late=[0.0, 0.0], cost=[3.0, 1.0])
    b = scored({"late": True}, f1=[0.5, 0.5], late=[0.5, 0.0], cost=[1.0, 1.0])
    assert bold({"a": a, "b": b}) == {("late", "a"), ("cost", "a")}  # of f1 both have .5
    same = scored({"late": True}, f1=[0.1 + 0.2, 0.3], late=[0.0, 0.0], cost=[3.0, 1.0])
    other = scored({"late": True}, f1=[0.3, 0.3], late=[0.0, 0.0], cost=[3.0, 1.0])
    assert bold({"a": same, "b": other}) == set()  # .1 + .2 is .3, but for rounding
    assert "have the same mean f1" in verdict(compare_systems("toy", {"a": same, "b": other}))
    assert bold({"a": a}) == set()


@pytest.mark.parametrize(
    ("largest", "unit", "last"),
    [
        (0.97, "", "1"), (2e-7, "billionths", "200"), (2e-6, "millionths", "2"),
        (0.004, "", "0.004"), (6e-4, "millionths", "600"), (65_907.0, "", "80,000"),
        (3_000_000.0, "millions", "3"), (150_000.0, "thousands", "150"),
    ],
)  # fmt: skip
def test_the_numbers_at_an_axis_can_be_read(largest, unit, last):
    axis = Axis([0.0, largest], 0, 100)
    assert (axis.unit, axis.label(axis.ticks[-1]), axis.label(0.0)) == (unit, last, "0")
    assert not any("e" in axis.label(tick) for tick in axis.ticks)


def test_what_rounding_leaves_is_no_scale():
    assert Axis([0.0, 1e-17], 0, 100).ticks == pytest.approx([0.0, 0.2])  # not one of 1e-17


def test_tiny_and_huge_means_are_not_drawn_as_zero_or_with_powers_of_ten():
    tiny, huge = [2e-7, 0.0], [4_000_000.0, 2_000_000.0]
    html = page({"a": scored(late=tiny, tokens=huge), "b": scored(late=tiny, tokens=huge)})
    assert "&lt;0.0001" in html and "3,000,000" in html
    assert "axis in billionths" in html and "axis in millions" in html
    drawn = re.findall(r'<text class="tick"[^>]*>([^<]*)<', html)
    assert {"1", "2", "3", "4"} <= {*drawn} and not any("e" in each for each in drawn)
