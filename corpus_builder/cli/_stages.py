"""What a build of a release says of its stages: how much each made, what it lost and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NAMES = ("parse", "surveys", "references", "mind-maps", "index", "card")  # no stage is imported

_LOST = {"rejected": "rejected", "flaws": "flaws", "skipped": "passed over"}
_MOST = 4  # reasons that a line names, the most frequent ones


def told(stage: str, report: Mapping[str, Any]) -> list[str]:
    """Return a line, or several, on a stage that is done.

    Args:
        stage: its name; one that has nothing to tell gives no line.
        report: what it left in ``stage.json``.
    """
    return list(_TOLD[stage](report)) if stage in _TOLD else []


def _parse(report: Mapping[str, Any]) -> Iterator[str]:
    for name, dataset in report["datasets"].items():
        parts = [f"{name}: {dataset['lines']:,} records in {dataset['shards']:,} shards"]
        if dataset["damaged"]:
            parts.append(f"{dataset['damaged']:,} of them END EARLY")
        parts += [f"{said} {_counts(dataset[key])}" for key, said in _LOST.items() if dataset[key]]
        yield "; ".join(parts)
    if report["told_twice"]:
        yield f"told twice, the first counts: {_counts(report['told_twice'])}"
    parts = [f"{report['papers']:,} papers"]
    if report["without_full_text"]:
        parts.append(f"{report['without_full_text']:,} left out, without full text")
    if report["texts_without_paper"]:
        parts.append(f"{report['texts_without_paper']:,} full texts of no paper")
    yield "; ".join(parts)


def _surveys(report: Mapping[str, Any]) -> Iterator[str]:
    verdicts = report["verdicts"]
    yield (
        f"{report['candidates']:,} candidates, judged by {report['judge']}: "
        f"{verdicts['survey']:,} surveys, {verdicts['other']:,} others, "
        f"{verdicts['unread']:,} could not be judged"
    )


def _references(report: Mapping[str, Any]) -> Iterator[str]:
    surveys = report["surveys"]
    dropped = f"; dropped {_counts(surveys['dropped'])}" if surveys["dropped"] else ""
    yield f"{surveys['kept']:,} surveys are tasks{dropped}"
    yield (
        f"{report['links']:,} references linked, {report['dangling_references']:,} to papers that "
        "are not here"
    )


def _mind_maps(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["figures"]:
        yield "no figures were given"
        return
    rejected = f"; rejected {_counts(report['rejected'])}" if report["rejected"] else ""
    yield (
        f"{report['surveys']:,} surveys, {report['surveys_with_figures']:,} with figures, "
        f"{report['picked']:,} with a taxonomy, {report['mind_maps']:,} mind-maps{rejected}"
    )


_TOLD = {
    "parse": _parse,
    "surveys": _surveys,
    "references": _references,
    "mind-maps": _mind_maps,
}


def _counts(of: Mapping[str, int]) -> str:
    largest = sorted(of.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{name} {number:,}" for name, number in largest[:_MOST])
    rest = sum(number for _, number in largest[_MOST:])
    return f"{named}, others {rest:,}" if rest else named
