"""How many topics and repeats a paired test needs, by how runs vary; docs/planning.md."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError
from arena.results.comparison import Comparison
from arena.results.comparison.clusters import FEWEST, clusters_of, numbered
from arena.results.comparison.comparing import MetricComparison
from arena.results.comparison.opening import ComparedRun
from arena.results.comparison.paired import POWER, detectable, errors

Floats = NDArray[np.float64]

REPEATS = (1, 2, 4, 8)
"""Repeats of each topic that a plan has a row for."""
_ALONE = (
    "Assumed, as one system is given: another one varies as much, and the scores of both correlate "
    "by topic with 0.5, so that their difference varies between topics as the scores of one do."
)
_UNKNOWN = "Nothing is known of repeats of {}: pool runs as NAME=RUN,RUN, or play with --repeats."


def check_numbers(detect: float, power: float, level: float) -> None:
    """Raise a DataError for a number that is out of its range; see `plan`."""
    if not (0 < detect < math.inf and 0 < level < power < 1):
        raise DataError(
            f"detect={detect:g}, level={level:g}, power={power:g}: give a difference above 0, and "
            "a level below the power, both between 0 and 1."
        )


def plan(
    comparison: Comparison,
    detect: float,
    power: float = POWER,
    level: float = 0.05,
    success: float | None = None,
) -> dict[str, Any]:
    """Plan a paired test by the headline of `comparison`, which has one system or two.

    Args:
        comparison: Their runs, pooled or with repeats where these are to be planned, too.
        detect: The true difference to be found, above 0.
        power: Chance that the test finds it, above `level` and below 1.
        level: Level of significance of the two-sided test, in (0, 1).
        success: Score of a success; by default the median of the first repeat.

    Returns:
        ``topics`` that are needed, each played ``repeats`` times by both, as in the given runs;
        ``options``, the same for `REPEATS`; ``detectable``, the smallest true difference that the
        ``given`` topics and clusters show; ``design_effect``, the variance of the mean over what it
        were if topics were independent; ``levels`` (corpus, run, topic, repeat) with the standard
        ``error`` of the mean that each makes and its ``share`` of the variance, where there are two
        or more; ``flip_rate`` of each system, the share of topics of which some repeats succeed and
        others do not; ``notes``.

    Raises:
        DataError: There are more systems, too few clusters, or a number is out of its range.
    """
    if len(comparison.runs) > 2:
        raise DataError(f"plan for one system or two, not {len(comparison.runs)}: pool NAME=A,B.")
    check_numbers(detect, power, level)
    table = next(m for m in comparison.metrics if m.metric == comparison.headline)
    size, rows = len(table.topics), comparison.runs[0].metrics["per_topic"]
    if table.clusters < FEWEST:
        raise DataError(
            f"{table.clusters} clusters of topics: a test needs {FEWEST}. Play topics of more "
            "clusters; where the corpus has no others, take a larger one or several."
        )
    corpora = numbered(rows[topic].get("corpus", "") for topic in table.topics)
    clusters = clusters_of(rows, comparison.clusters)
    groups = numbered(clusters[topic] for topic in table.topics)
    scores = {run.name: _scores(run, table) for run in comparison.runs}
    alone = [name for name, each in scores.items() if each.shape[1] == 1]
    played = min(each.shape[1] for each in scores.values())
    means = [np.array(table.values[name]) for name in scores]
    values = means[-1] - means[0] if len(means) == 2 else means[0]

    # Of the variance of one topic's difference, with its clusters, repeats make a part smaller.
    found = [_variances(run, scores[run.name], corpora) for run in comparison.runs]
    noise = sum(e[0] / each.shape[1] for e, each in zip(found, scores.values(), strict=True))
    shift = sum(each[1] for each in found)
    variance = float(errors(values[:, None], groups)[0]) ** 2 * size
    between, again = max(0.0, variance - noise), 2 * float(np.mean([each[0] for each in found]))

    def smallest(variance: float, topics: int) -> float:
        number, error = topics * table.clusters / size, math.sqrt(variance / topics)
        return detectable(error, number, level, power) if number > FEWEST - 0.5 else math.inf

    def needed(repeats: int) -> int:
        planned = between + again / repeats
        return bisect_left(range(10**12), True, 1, key=lambda n: smallest(planned, n) <= detect)

    # Topics lie in corpora; runs do, too, unless the same systems were run over each.
    centres = np.bincount(corpora, values) / np.bincount(corpora)
    inside = float(errors((values - centres[corpora])[:, None], groups)[0]) ** 2
    spread = centres.var(ddof=1) / len(centres) - inside if len(centres) > 1 else 0.0
    levels = {
        "corpus": (len(centres), spread - (shift if found[0][2] > played else 0.0)),
        "run": (found[0][2], shift),
        "topic": (size, inside - noise / size),
        "repeat": (played, noise / size),
    }
    whole = sum(max(0.0, part) for _, part in levels.values()) or 1.0
    shares = {name: max(0.0, part) / whole for name, (_, part) in levels.items()}
    top = max(shares, key=shares.__getitem__)
    first = next(iter(scores.values()))[:, 0]
    bound = float(np.median(first)) if success is None else success
    sign = -1 if table.lower_is_better else 1
    reached = {name: sign * each >= sign * bound for name, each in scores.items()}
    flips = {
        name: float((each != each[:, :1]).any(axis=1).mean())
        for name, each in reached.items()
        if name not in alone
    }
    return {
        "metric": table.metric, "detect": detect, "power": power, "level": level,
        "topics": needed(played), "repeats": played,
        "detectable": smallest(variance if len(found) == 2 else between + again / played, size),
        "given": {"topics": size, "clusters": table.clusters},
        "design_effect": variance / values.var(ddof=1) if np.ptp(values) else 1.0,
        "options": [{"repeats": n, "topics": needed(n)} for n in ([played] if alone else REPEATS)],
        "levels": [
            {"level": name, "number": number}
            | ({"error": math.sqrt(max(0.0, part)), "share": shares[name]} if number > 1 else {})
            for name, (number, part) in levels.items()
        ],
        "success": bound,
        "flip_rate": flips,
        "notes": [
            *([_ALONE] if len(scores) == 1 else []),
            *([_UNKNOWN.format(", ".join(alone))] if alone else []),
            f"The level {top} dominates: {shares[top]:.0%} of the known variance of the mean.",
            *(
                f"{name}: {rate:.0%} of the topics flip, of which some repeats reach a "
                f"{table.metric} of {bound:.4g} and others do not."
                for name, rate in flips.items()
            ),
        ],
    }  # fmt: skip


def _scores(run: ComparedRun, table: MetricComparison) -> Floats:
    """Return the scores of a system, topics x repeats; of as many repeats as every topic has."""
    rows = [run.repeats[topic] for topic in table.topics]
    known = [[row.get(table.metric) for row in each[: min(map(len, rows))]] for each in rows]
    if any(None in each for each in known):  # a metric that was not recorded of every episode
        known = [[score] for score in table.values[run.name]]
    return np.array(known, np.float64)


def _variances(
    run: ComparedRun, scores: Floats, corpora: NDArray[np.int64]
) -> tuple[float, float, int]:
    """Return how repeats vary about their topic, how pooled runs move the mean, and their number.

    The first is what is left of a score without the means of its topic and of its run (two-way
    analysis of variance: Searle, Casella and McCulloch, 1992, Variance Components, chapter 4).
    """
    repeats, shifts = scores.shape[1], []
    rest = scores - scores.mean(axis=1, keepdims=True)
    for corpus in np.unique(corpora) if run.pooled > 1 and repeats > 1 else ():
        shifts.append(rest[corpora == corpus].mean(axis=0))
        rest[corpora == corpus] -= shifts[-1]
    single = float(np.square(rest).sum()) / max(1, (len(rest) - len(shifts)) * (repeats - 1))
    if not shifts:
        return single, 0.0, 1
    number = max(repeats, len({row["system"] for rows in run.repeats.values() for row in rows}))
    between = np.mean([each.var(ddof=1) for each in shifts]) - single * len(shifts) / len(rest)
    return single, max(0.0, float(between)) / number, number
