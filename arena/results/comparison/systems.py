"""Systems side by side, by what a suite of `arena.suites` scored of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import DataError
from arena.results.comparison.comparing import Comparison, choose_baseline, compare_by
from arena.results.comparison.opening import ComparedRun, Effort
from arena.results.comparison.report import comparison_json

if TYPE_CHECKING:
    from arena.suites import Evaluation

_HOW = ("fisher", 0.95)  # test and level, as in `compare`


def compare_systems(
    suite: str, evaluations: Mapping[str, Evaluation], baseline: str | None = None
) -> Comparison:
    """Compare what systems scored on the same topics of a suite, by the tests of `compare`.

    A metric is taken over the topics that count for every system and have a value in each, so a
    mean can differ from that of one system alone. Those that nothing computed are left out, unless
    they are all and `Evaluation.needs` says why.

    Args:
        suite: Name of the suite, the title of the tables.
        evaluations: Name of each system -> its scores.
        baseline: The system that the others are compared with; by default the first.

    Raises:
        UnknownNameError: The baseline is unknown.
        DataError: No system has a score.
    """
    against = choose_baseline(baseline, {name: Path(name) for name in evaluations})
    pairs = [(name, against) for name in evaluations if name != against]
    every = tuple(dict.fromkeys(topic for each in evaluations.values() for topic in each.topics))
    systems, effort = [], Effort(0, 0, 0, 0, 0, 0, 0)
    for name, each in evaluations.items():
        rows: dict[str, dict[str, Any]] = {topic: {**each.counting(topic)} for topic in every}
        for topic, row in each.topics.items():
            rows[topic] |= {"remark": row["remark"]} if row.get("remark") else {}
        scores = {"per_topic": rows, "ceiling": {}, "counts": {"scored": len(each.topics)}}
        systems.append(
            ComparedRun(
                name, {"agent": "", "definition": {}, "sha256": {}}, scores, {}, effort, None
            )
        )
    first = next(iter(evaluations.values()))
    known = [
        n for n in first.mean if any(each.mean[n] is not None for each in evaluations.values())
    ]
    names = known or [name for name in first.mean if name in first.needs]
    tables = [
        compare_by(name, first.lower_is_better.get(name, False), systems, pairs, *_HOW)
        for name in names
    ]
    if not tables:
        raise DataError("no system has a score: see what is wrong with each of them alone.")
    total = len(every)
    lacking = dict[int, list[str]]()
    for table in tables:
        lacking.setdefault(len(table.topics), []).append(table.metric)
    notes = [
        f"{', '.join(names)}: {number} of {total} topics have a value for every system."
        for number, names in lacking.items()
        if number < total
    ]
    return Comparison(
        suite, tuple(systems), against, *_HOW, tuple(tables), tables[0].metric,
        every, {}, tuple(notes),
    )  # fmt: skip


def systems_json(comparison: Comparison, evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return the scores of each system and the comparison as plain dicts and lists."""
    systems = {name: each.to_json() for name, each in evaluations.items()}
    return {"systems": systems, **comparison_json(comparison)}
