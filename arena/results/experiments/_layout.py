"""Figures of runs, laid out as the tables of the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.results.experiments.config import Experiment, Row, Table
from arena.results.experiments.grid import Grid, columns_of, directory_of

_LARGE = 10  # a metric with values like this is no share, and four decimals say nothing


class Block(NamedTuple):
    """Rows under one header.

    Attributes:
        name: what tells it from the other blocks of its table: ``rows``, ``more`` or ``paper``.
        title: what it is.
        header: a name a column.
        rows: cells; figures as text, None where there is none.
        align: a letter a column.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    align: str


class Laid(NamedTuple):
    """A table as it is written.

    Attributes:
        table: what was asked for.
        blocks: the rows of the paper's agents, those that are added, and the paper's own figures.
        notes: sentences on what the figures are, and on what is missing.
    """

    table: Table
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]


def lay_out(
    experiment: Experiment,
    grid: Grid,
    table: Table,
    scores: Mapping[str, Mapping[str, Any]],
    engines: Mapping[str, str],
) -> Laid:
    """Lay out one table.

    Args:
        experiment: the whole.
        grid: its runs.
        table: one of its tables.
        scores: directory of a run -> what `score_cell` returns; a run that failed is absent.
        engines: label of a retriever -> what it is.
    """
    labels = list(experiment.retrievers) if table.by_retriever else [None]
    header = [*([table.group] if table.group else []), "Agent"]
    columns = [(heading, label) for heading in table.metrics for label in labels]
    header += [heading if label is None else f"{heading}, {label}" for heading, label in columns]
    values = {
        (row.label, heading, label): _value(grid, table, row, heading, label, scores)
        for row in table.rows
        for heading, label in columns
    }
    digits = {heading: _digits(values, heading) for heading in table.metrics}
    align = "l" * (len(header) - len(columns)) + "r" * len(columns)

    def cells(row: Row) -> tuple[str | None, ...]:
        before = [*([row.group or ""] if table.group else []), row.label]
        figures = [
            None
            if (value := values[row.label, *column]) is None
            else f"{value:.{digits[column[0]]}f}"
            for column in columns
        ]
        return (*before, *figures)

    blocks = [
        Block(name, title, tuple(header), tuple(cells(row) for row in rows), align)
        for name, title, more in (("rows", "", False), ("more", "Further agents", True))
        if (rows := [row for row in table.rows if row.more is more])
    ]
    if table.paper is not None:
        blocks.append(_reference(table))
    return Laid(table, tuple(blocks), tuple(_notes(experiment, grid, table, scores, engines)))


def value_of(
    grid: Grid, table: Table, row: Row, heading: str, column: str,
    scores: Mapping[str, Mapping[str, Any]],
) -> float | None:  # fmt: skip
    """Return a figure, or None where there is none."""
    found = scores.get(directory_of(table.task, row.label, column))
    value = None if found is None else found["mean"].get(grid.reported[table.name, heading])
    return None if value is None else float(value)


def _value(
    grid: Grid, table: Table, row: Row, heading: str, label: str | None,
    scores: Mapping[str, Mapping[str, Any]],
) -> float | None:  # fmt: skip
    if label is None:
        assert row.retriever is not None
        return value_of(grid, table, row, heading, row.retriever, scores)
    if row.retriever not in (None, label):
        return None
    return value_of(grid, table, row, heading, label, scores)


def _digits(values: Mapping[tuple[Any, ...], float | None], heading: str) -> int:
    own = [value for key, value in values.items() if key[1] == heading and value is not None]
    return 2 if any(abs(value) >= _LARGE for value in own) else 4


def _reference(table: Table) -> Block:
    paper = table.paper
    assert paper is not None
    columns = list(zip(*paper.rows, strict=True))
    rows = tuple(zip(*map(_as_printed, columns), strict=True))
    numeric = [all(isinstance(v, int | float | None) for v in column) for column in columns]
    title = f"The paper, on its own corpus, not to be compared with the above ({paper.source})"
    return Block("paper", title, paper.header, rows, "".join("lr"[n] for n in numeric))


def _as_printed(column: Sequence[Any]) -> list[str | None]:
    """Give the numbers of a column back the zeros at their ends, which YAML has taken."""
    places = [len(str(v).partition(".")[2]) for v in column if isinstance(v, float)]
    return [
        None if v is None else f"{v:.{max(places)}f}" if isinstance(v, float) else str(v)
        for v in column
    ]


def _notes(
    experiment: Experiment,
    grid: Grid,
    table: Table,
    scores: Mapping[str, Mapping[str, Any]],
    engines: Mapping[str, str],
) -> list[str]:
    runs = [
        (row, column, directory_of(table.task, row.label, column))
        for row in table.rows
        for column in columns_of(experiment, row)
    ]
    here = [(row, column, run, scores[run]) for row, column, run in runs if run in scores]
    notes = []
    if here:
        counts = here[0][3]["counts"]
        left = f" ({counts['not_scored']} without labels)" if counts["not_scored"] else ""
        notes.append(
            f"Task {table.task}, mean over {counts['scored']} of {counts['surveys']} surveys{left}."
        )
    used = dict.fromkeys(column for _, column, _ in runs)
    notes.append("; ".join(f"{label}: {engines[label]}" for label in used) + ".")
    for row in table.rows:
        if row.retrievers:
            own = " or ".join(columns_of(experiment, row))
            notes.append(f"{row.label} searches {own} and also {', '.join(row.retrievers)}.")
    asking = [(row.label, grid.cells[run]) for row, _, run in runs if grid.cells[run].asks]
    for model in dict.fromkeys(str(cell.options["model"]) for _, cell in asking):
        rows = dict.fromkeys(label for label, c in asking if str(c.options["model"]) == model)
        notes.append(f"Model {model}: {', '.join(rows)}.")
    for heading in table.metrics:
        name = grid.reported[table.name, heading]
        if here and all(name not in found["mean"] for *_, found in here):
            notes.append(
                f"{heading}: not scored; it needs the extractor {experiment.extractor}, whose "
                "packages are not installed."
            )
            continue
        fewer = {
            number
            for *_, found in here
            if (number := found["counts"].get("scored_by", {}).get(name)) is not None
            and number < found["counts"]["scored"]
        }
        if fewer:
            told = f"over the {_numbers(fewer)} of them that have" if max(fewer) else "none has"
            notes.append(f"{heading}: {told} what it counts.")
    notes += _troubles(here)
    gone = [f"{row.label} ({column})" for row, column, run in runs if run not in scores]
    if gone:
        notes.append(f"Not finished, and so without figures: {', '.join(gone)}.")
    return notes


def _troubles(here: Sequence[tuple[Row, str, str, Mapping[str, Any]]]) -> list[str]:
    """Return what went wrong inside episodes that count all the same."""
    told = []
    for row, column, _, found in here:
        llm = found.get("llm", {})
        parts = [
            f"{number} {what}"
            for number, what in (
                (found["nothing"], "episodes with nothing handed in"),
                (found["truncated"], "episodes cut off by the budget"),
                (
                    llm.get("stopped", 0),
                    "episodes that a limit, a refusal or silence of the model ended",
                ),
                (llm.get("failed", 0), "failed steps"),
            )
            if number
        ]
        if parts:
            told.append(f"{row.label} ({column}): {', '.join(parts)}; they count.")
    return told


def _numbers(values: set[int]) -> str:
    return f"{min(values)} to {max(values)}" if len(values) > 1 else str(min(values))
