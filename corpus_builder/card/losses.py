"""What was lost on the way into a corpus, at each stage, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from corpus_builder.card.facts import CardFacts
from corpus_builder.card.words import markdown, table

# Why, by the name of a count in the report of a stage. One that is not here explains itself.
_WHY = {
    "damaged": "shards that end early; what came before is used",
    "rejected": "records that cannot be used",
    "flaws": "parts of records that were left out; the rest is used",
    "told_twice": "records of an id that an earlier one has; the first counts",
    "without_full_text": "left out: only papers with full text are taken",
    "texts_without_paper": "full texts of an id that no paper has",
}
_COLUMNS = 6  # of a table that sets parts side by side
_DEPTH = 8


def of_corpus(counts: Mapping[str, int], facts: CardFacts) -> list[tuple[str, int, str]]:
    """Return rows of what a corpus holds, but no agent or scorer can use: what, number, why.

    Args:
        counts: The counts of the manifest.
        facts: What was counted.
    """
    surveys = counts["surveys"]
    identified = sum(counts[key] for key in counts if key.startswith("survey_references_"))
    listed = "references of surveys, "
    return [
        ("papers, undated", counts["undated"], "nobody can tell since when they are known"),
        ("papers, surveys", counts["survey_papers"],
         "a survey lists what an agent is to find, so none can be found or read"),
        ("entries of reference lists", counts["dangling_references"],
         "the paper cited is not in the corpus"),
        (listed + "not listed", facts.listed - identified,
         "the survey has more references than the source has ids for"),
        (listed + "unknown", counts["survey_references_unknown"], "not in the corpus"),
        (listed + "undated", counts["survey_references_undated"], "cannot be found"),
        (listed + "surveys", counts["survey_references_survey"], "cannot be found"),
        (listed + "not before it", counts["survey_references_not_before"],
         "dated on the survey's day or later: out of reach at its cutoff"),
        ("survey tasks without gold", surveys - counts["surveys_with_gold"],
         "no reference is in reach; they cannot be scored"),
        ("survey tasks without a mind-map", surveys - counts["mind_maps"],
         "none was given or made"),
        ("mind-maps that cannot be read", facts.mind_maps.unreadable, "no tree of headings"),
    ]  # fmt: skip


def of_source(source: Mapping[str, Any]) -> list[Markup]:
    """Return pieces of Markdown on the source's own reports, a section each."""
    parts = []
    stages = source.get("stages")
    if isinstance(stages, Mapping):
        for name in stages:
            heading = Markup(f"### Stage {markdown(_plain(name))}")
            parts += [heading, *_report(stages[name])]
    for key in ("yield", "yields"):
        if key in source:
            parts += [Markup("### Yield of the joins"), *_report(source[key])]
    return parts


def flat(value: Any, *, counts_only: bool = False) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (names from the outermost on, value) of every value in nested mappings.

    Args:
        value: Any JSON; a list is one value.
        counts_only: Whether to yield numbers alone.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping) and len(path) < _DEPTH:
            waiting.extend(((*path, str(key)), part[key]) for key in reversed(part))
        elif not counts_only or (isinstance(part, int | float) and not isinstance(part, bool)):
            yield path, part


def _report(report: Any) -> Iterator[Markup]:
    """Yield the tables of one report: counts, and parts of the same form side by side."""
    if not isinstance(report, Mapping):
        report = {"": report}
    beside = [key for key in report if _is_beside(report[key])]
    rest = {key: value for key, value in report.items() if key not in beside}
    for key in beside:
        columns = {name: dict(flat(part, counts_only=True)) for name, part in report[key].items()}
        paths = list(dict.fromkeys(path for column in columns.values() for path in column))
        rows = [
            (_named(path), *(column.get(path) for column in columns.values()), _why(path))
            for path in paths
        ]
        yield table((_plain(key), *map(_plain, columns), "why"), rows, f"l{'r' * len(columns)}l")
    rows = [(_named(path), number, _why(path)) for path, number in flat(rest, counts_only=True)]
    if rows:
        yield table(("what", "number", "why"), rows, "lrl")
    elif not beside:
        yield Markup("No counts.")


def _is_beside(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and 0 < len(value) <= _COLUMNS
        and all(isinstance(part, Mapping) and part for part in value.values())
    )


def _why(path: tuple[str, ...]) -> str:
    return next((_WHY[name] for name in path if name in _WHY), "")


def _named(path: tuple[str, ...]) -> str:
    return ": ".join(_plain(name) for name in path)


def _plain(name: str) -> str:
    return name.replace("_", " ")
