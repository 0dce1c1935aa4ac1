"""How far judges agree with people, by kappas and alpha with intervals, and with each other."""

from __future__ import annotations

import csv
import io
import itertools
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError, clip, did_you_mean
from arena.kit.files import json_value
from arena.kit.lazy import load
from arena.text.display import count
from arena_suites.judging.judge import Judgements, wilson

STATISTICS = ("kappa", "quadratic_kappa", "spearman")
_RESAMPLES = 10_000
_SEED = 20_251_123

Floats = NDArray[np.float64]
Human = dict[str, dict[str, int]]  # id -> dimension -> score


def read_human(path: str | Path, judgements: Judgements) -> Human:
    """Return one person's scores: a sheet of `draw`, whose column ``answer`` is filled in.

    `judgements` is the key of the sheet. A row without an answer has no score.
    """
    csv.field_size_limit(1 << 30)  # what is shown may be long
    text = Path(path).read_bytes().decode("utf-8-sig", "replace")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if not {"item", "answer"} <= {*(rows.fieldnames or ())}:
        raise DataError(
            f"{str(path)!r}: a sheet has the columns item and answer: use what `arena judge "
            "sample` wrote."
        )
    scores: Human = {}
    (low, high), items = judgements.scale, judgements.items
    for row in rows:
        item, answer = row["item"], (row["answer"] or "").strip()
        where = f"{str(path)!r} line {rows.line_num}"
        if not answer:
            continue
        if item not in items:
            raise DataError(f"{where}: {clip(item)} was not judged.{did_you_mean(item, items)}")
        if item in scores:
            raise DataError(f"{where}: a second answer to {clip(item)}. Give each rater a file.")
        if not re.fullmatch(r"-?\d{1,9}", answer) or not low <= int(answer) <= high:
            raise DataError(
                f"{where}: answer={clip(answer)}: give a whole number from {low} to {high}."
            )
        scores[item] = dict.fromkeys(items[item]["scores"], int(answer))
    if not scores:
        raise DataError(f"{str(path)!r} contains no score.")
    return scores


def agreement(judgements: Judgements, *raters: Human) -> dict[str, Any]:
    """Compare a judge's scores with those of one or more people.

    Cohen's kappa (1960), plain and with quadratic weights (1968), over all scores of the scale, and
    Spearman's rank correlation with mid-ranks. They are None where one side always gives the same
    score. Intervals contain 95 % of 10,000 resamples of the items, always the same ones; they are
    None where more than 5 % of the resamples have no value.

    Args:
        judgements: The judge's scores.
        raters: Scores by each person.

    Returns:
        ``dimensions``: for each its ``pairs`` of a rater's and the judge's score, the share of
        ``equal`` ones with Wilson's interval (1927), of scores 0 and 1 likewise ``precision``,
        the share of the judge's 1 that are people's, and ``recall``; ``kappa``, ``quadratic_kappa``
        and ``spearman``, each with ``NAME_interval``; with several raters ``alpha``, Krippendorff's
        (2011) among the people, with squared differences as distances; ``overall``: the same
        for the pairs of all dimensions together; ``mean``: the means over the dimensions, as in
        Table 5 of TaxoBench.
    """
    low, high = judgements.scale
    size, dimensions = high - low + 1, judgements.dimensions
    rated = {n: row for n, row in judgements.items.items() if any(each.get(n) for each in raters)}
    # For each dimension and item a table of counts with a pair for each rater: rows are the judge's
    # scores, columns people's. All statistics come from sums of such tables. Those of alpha count
    # the pairs of people, each pair both ways, divided by the people but one.
    n = max(len(rated), 1)
    tables, among = np.zeros((2, len(dimensions), n, size, size))
    for place, dimension in enumerate(dimensions):
        for number, (name, row) in enumerate(rated.items()):
            scores = row["scores"]
            if dimension not in scores:  # an item of a sample has one dimension
                continue
            given = [r[name][dimension] - low for r in raters if dimension in r.get(name, ())]
            for score in given:
                tables[place, number, scores[dimension] - low, score] += 1
            for one, other in itertools.permutations(given, 2):
                among[place, number, one, other] += 1 / (len(given) - 1)
    drawn = np.random.default_rng([_SEED, n]).multinomial(n, np.full(n, 1 / n), _RESAMPLES)
    counts = np.concatenate([np.ones((1, n)), drawn])
    sums, pairs = (np.einsum("rn,dnij->drij", counts, t, optimize=True) for t in (tables, among))
    several = len(raters) > 1
    values = np.stack([_statistics(*p, several) for p in zip(sums, pairs, strict=True)])
    overall = sums.sum(axis=0)
    return {
        "dimensions": {
            name: _described(values[place], sums[place][0]) for place, name in enumerate(dimensions)
        },
        "overall": _described(_statistics(overall, pairs.sum(axis=0), several), overall[0]),
        "mean": _described(values.mean(axis=0)),
    }


def _statistics(tables: Floats, among: Floats, several: bool) -> Floats:
    """Return kappa, quadratic kappa and Spearman of each table of counts; NaN where undefined.

    With several raters also alpha, by the tables `among` people.
    """
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    total = rows.sum(axis=1, keepdims=True)
    constant = ((rows > 0).sum(axis=1) < 2) | ((columns > 0).sum(axis=1) < 2)
    distance = np.subtract.outer(*[np.arange(tables.shape[-1])] * 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.einsum("ri,rj->rij", rows, columns / total)
        found = [
            1 - np.einsum("ij,rij->r", weights, tables) / np.einsum("ij,rij->r", weights, expected)
            for weights in ((distance != 0).astype(float), distance**2)
        ]
        ranks = [side.cumsum(axis=1) - (side + total) / 2 for side in (rows, columns)]  # centred
        spreads = [
            (side * rank**2).sum(axis=1) for side, rank in zip((rows, columns), ranks, strict=True)
        ]
        found.append(np.einsum("rij,ri,rj->r", tables, *ranks) / np.sqrt(spreads[0] * spreads[1]))
        found = [np.where(constant, np.nan, each) for each in found]
        if several:
            each = among.sum(axis=1)
            by_chance = np.einsum("ij,ri,rj->r", distance**2, each, each)
            observed = np.einsum("ij,rij->r", distance**2, among)
            found.append(1 - (each.sum(axis=1) - 1) * observed / by_chance)
    return np.stack(found, axis=1)


def _described(values: Floats, table: Floats | None = None) -> dict[str, Any]:
    """Return each statistic, which is in the first row, and its interval, from the others."""
    found: dict[str, Any] = {}
    if table is not None:
        pairs = int(table.sum())
        equal = int(table.trace())
        found = {"pairs": pairs, "equal": equal / pairs if pairs else None, "equal_interval": None}
        if pairs:
            found["equal_interval"] = [*wilson(equal, pairs)]
        if len(table) == 2:  # 0 or 1
            for name, of in (("precision", table[1].sum()), ("recall", table[:, 1].sum())):
                found[name] = float(table[1, 1] / of) if of else None
                found[f"{name}_interval"] = [*wilson(int(table[1, 1]), int(of))] if of else None
    for name, column in zip((*STATISTICS, "alpha"), values.T, strict=False):  # alpha of several
        defined = column[1:][~np.isnan(column[1:])]
        enough = not np.isnan(column[0]) and len(defined) >= 0.95 * _RESAMPLES
        found[name] = None if np.isnan(column[0]) else float(column[0])
        ends = np.quantile(defined, [0.025, 0.975]).tolist() if enough else None
        found[f"{name}_interval"] = ends
    return found


# Several judges, people among them, who scored the same topics


def read_scores(path: str | Path, metric: str) -> dict[str, float]:
    """Return topic -> score by one metric of the topics that have one.

    The file has what ``arena evaluate --json`` printed, or ``{"TOPIC": {"METRIC": number}}``.
    """
    found = json_value(Path(path).read_bytes())
    try:
        rows = next((found[key] for key in ("topics", "per_topic") if key in found), found).items()
        known = {name for _, row in rows for name in row}
        scores = {topic: row[metric] for topic, row in rows if row.get(metric) is not None}
        if scores:
            return {topic: float(score) for topic, score in scores.items()}
    except (AttributeError, TypeError, ValueError):
        form = 'what `arena evaluate --json` prints, or {"cs_02": {"roq": 0.4}}'
        raise DataError(f"{str(path)!r} has no scores of topics: give {form}.") from None
    raise DataError(f"{str(path)!r} has no score {clip(metric)}.{did_you_mean(metric, known)}")


def compare_judges(judges: Mapping[str, Mapping[str, float]], parity: float) -> dict[str, Any]:
    """Compare judges' scores (topic -> score) over the topics that all of them scored.

    Bloom-Eval, appendix G.3: figures 13 to 15 and table 12.

    Returns:
        ``topics``, their number; ``judges``, name -> ``mean``, ``sd`` (of a sample) and ``above``,
        the share of scores of at least `parity`; ``pairs`` of ``judges`` with ``direction``, the
        share of topics on the same side of parity, and the correlations ``pearson`` and
        ``spearman``, None where too few or equal scores define none.

    Raises:
        DataError: Less than two topics have a score by all.
    """
    stats = load("scipy.stats", "a comparison of judges")
    common = sorted(set.intersection(*(set(scores) for scores in judges.values())))
    if len(common) < 2:
        raise DataError(
            f"{count(len(common), 'topic has', 'topics have')} a score by all judges: "
            "two are needed."
        )
    columns = {name: [scores[topic] for topic in common] for name, scores in judges.items()}
    above = {name: [score >= parity for score in column] for name, column in columns.items()}
    pairs = []
    for a, b in itertools.combinations(columns, 2):
        sides = columns[a], columns[b]
        defined = len(common) > 2 and all(len({*side}) > 1 for side in sides)
        same = (x == y for x, y in zip(above[a], above[b], strict=True))
        row: dict[str, Any] = {"judges": [a, b], "direction": statistics.fmean(same)}
        for test in (stats.pearsonr, stats.spearmanr):
            row[test.__name__[:-1]] = float(test(*sides).statistic) if defined else None
        pairs.append(row)
    rows = {
        name: {"mean": statistics.fmean(column), "sd": statistics.stdev(column),
               "above": statistics.fmean(above[name])}
        for name, column in columns.items()
    }  # fmt: skip
    return {"topics": len(common), "judges": rows, "pairs": pairs}
