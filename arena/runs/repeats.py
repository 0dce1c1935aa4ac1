"""Runs that play each topic several times: the mean, the best and the share of successes.

``pass@j`` is the chance that one of j episodes of a topic succeeds, estimated from n of which c
did (Chen et al., 2021, "Evaluating Large Language Models Trained on Code", equation 1)::

    pass@j = 1 - C(n - c, j) / C(n, j)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from arena.errors import DataError, clip, did_you_mean
from arena.metrics import Metric, mean
from arena.tasks import Comparison, read_comparisons


def read_success(text: str, metrics: Mapping[str, Metric | None]) -> Comparison:
    """Return what a text such as ``recall@100>=.3`` says of a column of `Scorer.metrics`.

    A successful episode keeps to it.
    """
    try:
        [success] = read_comparisons(text)
    except ValueError:
        raise DataError(
            f"success={clip(text)}: give a metric and its bound, such as recall@100>=.3."
        ) from None
    name = success.name
    if name not in metrics:
        raise DataError(
            f"success={clip(text)}: the run has no metric {clip(name)}."
            f"{did_you_mean(name, metrics)}"
        )
    metric = metrics[name]
    if metric and success.bound > 1 and metric.score.__module__.startswith("arena.metrics."):
        raise DataError(f"success={clip(text)}: {name} is at most 1. Write .3 for 30 %.")
    return success


def pass_at(j: int, n: int, c: int) -> float:
    """Return the chance that one of j episodes, drawn of n of which c succeed, succeeds."""
    return 1.0 - math.comb(n - c, j) / math.comb(n, j)


def is_of_repeats(column: str) -> bool:
    """Return whether a column compares the episodes of one topic."""
    return column.startswith(("best@", "pass@"))


def merge(
    summaries: Sequence[dict[str, Any]],
    directions: Mapping[str, bool | None],
    success: Comparison | None,
) -> dict[str, Any]:
    """Return one summary of those of the first, second, ... episode of each topic.

    `directions` are those of all columns, `Scorer.directions`; for the columns of K episodes see
    docs/runs.md. A topic without a score in one episode has none. What an episode spent is the
    mean, ``truncated`` a count, ``submitted_each`` lists ``submitted`` of each episode, and all
    else is of the first.
    """
    if (k := len(summaries)) == 1:
        return summaries[0]
    powers = [2**power for power in range(k.bit_length()) if 2**power < k]
    per_topic, successes = {}, []
    for topic in summaries[0]["per_topic"]:
        rows = [summary["per_topic"][topic] for summary in summaries]
        merged = {**next((row for row in rows if "failed" in row), rows[0])}
        columns: dict[str, float | None] = {}
        for name, lower in directions.items():
            values = [row[name] for row in rows]
            known = None not in values
            columns[name] = math.fsum(values) / k if known else None
            if lower is not None:
                columns[f"best@{k}.{name}"] = (min if lower else max)(values) if known else None
            if success is not None and name == success.name:
                c = sum(map(success.holds, values)) if known else None
                for j in (*powers, k):
                    columns[f"pass@{j}"] = None if c is None else pass_at(j, k, c)
                successes.append(c)
                merged["successes"] = c
        for name in ("steps", "searches", "reads", "characters", "written", "return"):
            if name in merged:
                merged[name] = math.fsum(row[name] for row in rows) / k
        if "unseen" in merged:
            merged["unseen"] = mean(row["unseen"] for row in rows)
        merged["submitted_each"] = [row["submitted"] for row in rows]
        if "truncated" in merged:
            merged["truncated"] = sum(row["truncated"] for row in rows)
        per_topic[topic] = merged | columns
    first = summaries[0]
    scored = sum(all(row[name] is not None for name in directions) for row in per_topic.values())
    failed = sum("failed" in row for row in per_topic.values())
    counts = first["counts"] | {"scored": scored, "repeats": k}
    result = first | {
        "per_topic": per_topic,
        "counts": counts | ({"failed": failed} if failed else {}),
    }
    result["mean"] = {name: mean(row[name] for row in per_topic.values()) for name in columns}
    best = {n: first["ceiling"].get(n.partition(".")[2]) for n in columns if is_of_repeats(n)}
    result["ceiling"] = first["ceiling"] | best
    if "unseen" in first:
        result["unseen"] = mean(row["unseen"] for row in per_topic.values())
    if success is not None:
        known_counts = [c for c in successes if c is not None]
        result["profile"] = {
            "success": f"{success.name}{success.sign}{success.bound:g}",
            "never": known_counts.count(0),
            "sometimes": sum(0 < c < k for c in known_counts),
            "always": known_counts.count(k),
        }
    return result
