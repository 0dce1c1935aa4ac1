"""When papers of a synthetic corpus appear, and who cites whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus_builder.synthetic._config import SyntheticConfig
from corpus_builder.synthetic.language import IntArray, SubjectTree

DAY, MONTH, YEAR, UNDATED = range(4)
"""How much of a paper's date its record gives."""

_MONTH_SHARE = 0.2  # of the dates that give more than a year
_GROWTH = 2.0  # the last year has about 1 + growth times the papers of the first
_DATE_PURPOSE = 2
_ID_PURPOSE = 3
_TYPICAL_PURPOSE = 7


class Timeline:
    """Columns over all papers, in an order independent of subject and date.

    `leaf` (from 0) and `survey_subject` are subjects, -1 for a survey paper. `typical`, evenly
    spread over [0, 1), is how typical a paper is of its survey subject: typical papers say the
    subject's term more often and are cited sooner. `day` is the true day as days since 1970-01-01,
    `precision` is `DAY`, `MONTH`, `YEAR` or `UNDATED`, and `resolved` the last day that the
    recorded date can mean. `surveys` are indices; `span` is the first day of the period, and the
    first day after it.
    """

    def __init__(self, config: SyntheticConfig, tree: SubjectTree, surveys: int) -> None:
        rng = config.rng(_DATE_PURPOSE)
        count = config.papers
        self.ids = _unique_numbers(config, count)
        self.prefix = f"w{config.seed}-"
        years = [config.first_year - 1970, config.first_year + config.years - 1970]
        days = np.array(years, "datetime64[Y]").astype("datetime64[D]").astype(np.int64)
        start, end = self.span = int(days[0]), int(days[1])
        self.surveys = rng.permutation(count)[:surveys]

        share = np.cumsum(tree.leaf_weights)
        self.leaf = np.searchsorted(share, rng.random(count) * share[-1], side="right")
        self.leaf[self.surveys] = -1
        self.survey_subject = np.where(
            self.leaf < 0, -1, tree.ancestors(self.leaf, tree.survey_level)
        )

        self.typical = config.rng(_TYPICAL_PURPOSE).random(count)

        # The inverse of a distribution whose density rises linearly over the period.
        rise = rng.random(count) * (_GROWTH + _GROWTH**2 / 2)
        place = (np.sqrt(1 + 2 * rise) - 1) / _GROWTH
        self.day = np.minimum(start + np.floor(place * (end - start)).astype(np.int64), end - 1)
        draws = rng.random((count, 3))
        self.precision = np.where(draws[:, 0] < _MONTH_SHARE, MONTH, DAY)
        self.precision[draws[:, 1] < config.year_only] = YEAR
        self.precision[draws[:, 2] < config.undated] = UNDATED
        self.precision[self.surveys] = DAY
        self.resolved = _last_day(self.day, self.precision)
        self.citable = (self.precision != UNDATED) & (self.leaf >= 0)

    def paper_id(self, index: int) -> str:
        """Return the id of a paper: the seed and ten random hexadecimal digits."""
        return f"{self.prefix}{self.ids[index]:010x}"

    def date(self, index: int) -> str | None:
        """Return the date as a record gives it: YYYY-MM-DD, YYYY-MM, YYYY or None."""
        precision = self.precision[index]
        if precision == UNDATED:
            return None
        full = str(np.datetime64(int(self.day[index]), "D"))
        return full[: (10, 7, 4)[precision]]


def _last_day(day: IntArray, precision: IntArray) -> IntArray:
    dates = day.astype("datetime64[D]")
    month = (dates.astype("datetime64[M]") + 1).astype("datetime64[D]").astype(np.int64) - 1
    year = (dates.astype("datetime64[Y]") + 1).astype("datetime64[D]").astype(np.int64) - 1
    return np.where(precision == YEAR, year, np.where(precision == MONTH, month, day))


def _unique_numbers(config: SyntheticConfig, count: int) -> NDArray[np.int64]:
    """Draw different 40-bit numbers; sorted to drop repeats, then shuffled to hide the order."""
    rng = config.rng(_ID_PURPOSE)
    drawn = np.unique(rng.integers(0, 1 << 40, count + count // 64 + 64))
    return rng.permutation(drawn)[:count]


MAX_REFERENCES = 20
"""Most references of a paper other than a survey."""

_MIN_REFERENCES = 6
_COPY = 0.4  # probability of taking over a reference of the paper drawn, instead of the paper
_SAME_LEAF, _SAME_SUBJECT, _NEIGHBOUR = 0.45, 0.88, 0.97  # cumulative; the rest cites anything
_CITING_PURPOSE = 4


def cite(config: SyntheticConfig, tree: SubjectTree, timeline: Timeline) -> NDArray[np.int32]:
    """Return the papers cited by each paper, as a (papers, MAX_REFERENCES) array of indices.

    -1 marks an empty place; a row may repeat an index. Cited papers resolve to days before the true
    day of the citing one. To copy the references of papers cited is preferential attachment without
    counts.
    """
    rng = config.rng(_CITING_PURPOSE)
    count = config.papers
    cited = np.full((count, MAX_REFERENCES), -1, dtype=np.int32)
    wanted = rng.integers(_MIN_REFERENCES, MAX_REFERENCES + 1, count)
    by_leaf = EarlierPapers(timeline, timeline.leaf)
    by_subject = EarlierPapers(timeline, timeline.survey_subject)
    by_all = EarlierPapers(timeline, np.zeros(count, dtype=np.int64))
    first, size = tree.first[tree.survey_level], tree.size[tree.survey_level]
    near = np.array([tree.neighbours(first + k) for k in range(size)])
    # What each paper can draw from is the same in every slot except for the subject next to its
    # own.
    all_day, no_group = timeline.day, np.zeros(count, dtype=np.int64)
    of_leaf = by_leaf.spans(timeline.leaf, all_day)
    of_subject = by_subject.spans(timeline.survey_subject, all_day)
    of_all = by_all.spans(no_group, all_day)
    at = np.maximum(timeline.survey_subject - first, 0)
    of_near = [by_subject.spans(column, all_day) for column in near[at].T]
    for slot in range(MAX_REFERENCES):
        # Draws for all papers, used or not, so that no knob shifts the stream.
        draws = rng.random((5, count))
        who = np.flatnonzero((timeline.leaf >= 0) & (wanted > slot))
        kind, copy, which = draws[:3, who]
        places = draws[3:, who]
        drawn = np.select(
            [kind < _SAME_LEAF, kind < _SAME_SUBJECT, kind < _NEIGHBOUR],
            [
                by_leaf.draw(of_leaf[:, who], places),
                by_subject.draw(of_subject[:, who], places),
                by_subject.draw(of_near[slot % len(of_near)][:, who], places),
            ],
            by_all.draw(of_all[:, who], places),
        )
        if slot:
            source = np.floor(which * slot).astype(np.int64)
            taken = cited[drawn, source]
            drawn = np.where((drawn >= 0) & (taken >= 0) & (copy < _COPY), taken, drawn)
        cited[who, slot] = drawn
    return cited


class EarlierPapers:
    """Draws citable papers of a group that were dated before a day."""

    def __init__(self, timeline: Timeline, group: IntArray) -> None:
        who = np.flatnonzero(timeline.citable)
        self._start, self._days = timeline.span[0], timeline.span[1] - timeline.span[0] + 1
        keys = self._key(group[who], timeline.resolved[who])
        order = np.argsort(keys, kind="stable")
        self.papers, self._keys = who[order], keys[order]
        self._typical = timeline.typical

    def _key(self, group: IntArray, day: IntArray) -> IntArray:
        return group * self._days + (day - self._start)

    def spans(self, group: IntArray, day: IntArray) -> NDArray[np.int32]:
        """Return where the papers of each group before each day begin and end, in two rows."""
        low = np.searchsorted(self._keys, group * self._days)
        high = np.searchsorted(self._keys, self._key(group, day))
        return np.stack([low, high]).astype(np.int32)

    def draw(self, spans: NDArray[np.int32], places: NDArray[np.float64]) -> IntArray:
        """Return the more typical of two papers of each span, -1 where it is empty.

        `places` contains two rows of numbers in [0, 1).
        """
        if not len(self.papers):
            return np.full(spans.shape[1], -1, dtype=np.int64)
        low, high = spans.astype(np.int64)
        picked = low + np.floor(places * (high - low)).astype(np.int64)
        one, other = self.papers[np.minimum(picked, len(self.papers) - 1)]
        better = np.where(self._typical[other] > self._typical[one], other, one)
        return np.where(high > low, better, -1)
