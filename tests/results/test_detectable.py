"""The smallest difference that a comparison shows: its number, and where it is said."""

from __future__ import annotations

import numpy as np
import pytest
from compare_helpers import forge, topics_of
from scipy import stats

import arena
from arena.results.comparison import as_json, as_text
from arena.results.comparison.paired import detectable, errors
from arena.results.viewing import as_page

QUARTERS = [0.25, 0.25, 0.5, 0.5, 0.5, 0.0, 0.75, 0.0]
SAID = "Smallest true difference in recall@10 that such runs show with a power of 0.8: "


@pytest.mark.parametrize(
    ("clusters", "alpha", "power"),
    [(7, 0.05, 0.8), (12, 0.05, 0.9), (30, 0.05, 0.8), (200, 0.01, 0.9)],
)
def test_power_as_the_noncentral_t_has_it(clusters, alpha, power):
    found = detectable(0.01, clusters, alpha, power) / 0.01
    critical, freedom = stats.t.isf(alpha / 2, clusters - 1), clusters - 1
    actual = stats.nct.sf(critical, freedom, found) + stats.nct.cdf(-critical, freedom, found)
    assert actual == pytest.approx(power, abs=0.015)


def test_error_of_a_mean_by_hand():
    """Sums 3, 3 and -1 of clusters of 2, 1 and 3 topics: residuals 4 / 3, 13 / 6 and -7 / 2."""
    values = np.array([[1.0], [2], [3], [0.5], [-0.5], [-1]])
    expected = np.sqrt(3 / 2 * ((4 / 3) ** 2 + (13 / 6) ** 2 + 3.5**2)) / 6
    assert errors(values, np.array([1, 1, 2, 0, 0, 0])) == [pytest.approx(expected)]
    assert errors(values) == pytest.approx(stats.sem(values))
    assert errors(values, np.zeros(6, int)) == [0.0]


@pytest.fixture
def compared(title_run, tmp_path):
    def compare(*shifts, **how):
        """Compare QUARTERS with themselves moved by a number of eighths in each topic."""
        topics = topics_of(title_run)
        runs = []
        for number, shift in enumerate(([0] * 8, *shifts)):
            values = [value + by / 8 for value, by in zip(QUARTERS, shift, strict=True)]
            scores = {"recall@10": dict(zip(topics, values, strict=True))}
            runs.append(f"r{number}={forge(title_run, tmp_path / f'r{number}', scores)}")
        return arena.compare(runs, **how)

    return compare


def test_it_is_said_in_text_json_and_page(compared):
    """Differences of 1, 0, 1, 0, 1, 0, 1, 0 eighths: the standard error is sqrt(2 / 7 / 8) / 8."""
    found = compared([1, 0] * 4)
    ((difference,),) = [metric.differences for metric in found.metrics]
    error = np.sqrt(2 / 7 / 8) / 8
    expected = error * (stats.t.isf(0.025, 7) + stats.t.isf(0.2, 7))
    assert difference.detectable == pytest.approx(expected, rel=0.01)
    assert difference.difference == 1 / 16 < difference.detectable
    told = as_json(found)
    assert told["metrics"]["recall@10"]["differences"][0]["detectable"] == difference.detectable
    line = f"{SAID}{difference.detectable:.4f} (r1)."
    warning = "Warning: the difference of r1, +0.0625, is smaller than that:"
    for text in (as_text(found), as_page(found).html, "\n".join(told["notes"])):
        assert text.count(line) == text.count(warning) == 1


def test_a_large_difference_is_no_warning(compared):
    text = as_text(compared([1, 2] * 4))
    assert SAID in text and "smaller than that" not in text


def test_nothing_is_said_where_nothing_can_be_significant(compared):
    """Of 8 topics p is at least 2 / 256, Holm's first level of eight runs .05 / 7."""
    found = compared(*([1, 0] * 4 for _ in range(7)))
    assert {pair.detectable for pair in found.metrics[0].differences} == {None}
    assert SAID not in as_text(found)
