"""What is kept of every paper besides its text: topic, date, id."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus_builder.world._config import WorldConfig
from corpus_builder.world._topics import IntArray, TopicTree

DAY, MONTH, YEAR, UNDATED = range(4)
"""How much of a paper's date its record tells."""

_MONTH_SHARE = 0.2  # of the dates that tell more than a year
_GROWTH = 2.0  # the last year has about 1 + growth times the papers of the first
_PURPOSE = 2
_ID_PURPOSE = 3
_TYPICAL_PURPOSE = 7


class Timeline:
    """Columns over all papers, in an order that tells nothing of topic or date.

    Attributes:
        ids: Random numbers of 40 bits, all different.
        leaf: Leaf topic counted from 0; -1 for a survey paper.
        survey_topic: Topic number at the survey level; -1 for a survey paper.
        typical: How typical a paper is of its survey topic, evenly spread over [0, 1): typical
            papers say the topic's term more often and are cited sooner.
        day: The true day as days since 1970-01-01.
        precision: `DAY`, `MONTH`, `YEAR` or `UNDATED`.
        resolved: The last day that the told date can mean.
        surveys: Indices of the survey papers.
        span: First day of the period, and the first day after it.
    """

    def __init__(self, config: WorldConfig, tree: TopicTree, surveys: int) -> None:
        rng = config.rng(_PURPOSE)
        count = config.papers
        self.ids = _unique_numbers(config, count)
        self.prefix = f"w{config.seed}-"
        self.span = _first_day(config.first_year), _first_day(config.first_year + config.years)
        self.surveys = rng.permutation(count)[:surveys]

        share = np.cumsum(tree.leaf_weights)
        self.leaf = np.searchsorted(share, rng.random(count) * share[-1], side="right")
        self.leaf[self.surveys] = -1
        self.survey_topic = np.where(
            self.leaf < 0, -1, tree.ancestors(self.leaf, tree.survey_level)
        )

        self.typical = config.rng(_TYPICAL_PURPOSE).random(count)

        # The inverse of a distribution whose density rises linearly over the period.
        rise = rng.random(count) * (_GROWTH + _GROWTH**2 / 2)
        place = (np.sqrt(1 + 2 * rise) - 1) / _GROWTH
        self.day = self.span[0] + np.floor(place * (self.span[1] - self.span[0])).astype(np.int64)
        self.day = np.minimum(self.day, self.span[1] - 1)
        told = rng.random((count, 3))
        self.precision = np.where(told[:, 0] < _MONTH_SHARE, MONTH, DAY)
        self.precision[told[:, 1] < config.year_only] = YEAR
        self.precision[told[:, 2] < config.undated] = UNDATED
        self.precision[self.surveys] = DAY
        self.resolved = _last_day(self.day, self.precision)
        self.citable = (self.precision != UNDATED) & (self.leaf >= 0)

    def paper_id(self, index: int) -> str:
        """Return the id of a paper: the seed and ten random hexadecimal digits."""
        return f"{self.prefix}{self.ids[index]:010x}"

    def date(self, index: int) -> str | None:
        """Return the date as a record tells it: YYYY-MM-DD, YYYY-MM, YYYY or None."""
        precision = self.precision[index]
        if precision == UNDATED:
            return None
        full = str(np.datetime64(int(self.day[index]), "D"))
        return full[: (10, 7, 4)[precision]]


def _first_day(year: int) -> int:
    return int(np.datetime64(f"{year:04d}-01-01", "D").astype(np.int64))


def _last_day(day: IntArray, precision: IntArray) -> IntArray:
    dates = day.astype("datetime64[D]")
    month = (dates.astype("datetime64[M]") + 1).astype("datetime64[D]").astype(np.int64) - 1
    year = (dates.astype("datetime64[Y]") + 1).astype("datetime64[D]").astype(np.int64) - 1
    return np.where(precision == YEAR, year, np.where(precision == MONTH, month, day))


def _unique_numbers(config: WorldConfig, count: int) -> NDArray[np.int64]:
    """Draw different 40-bit numbers; sorted to drop repeats, then shuffled to hide the order."""
    rng = config.rng(_ID_PURPOSE)
    drawn = np.unique(rng.integers(0, 1 << 40, count + count // 64 + 64))
    return rng.permutation(drawn)[:count]
