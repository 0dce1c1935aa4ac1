"""Several judges, people among them, who scored the same topics."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip, did_you_mean
from arena.kit.files import json_value
from arena.kit.lazy import load
from arena.text.display import count


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
