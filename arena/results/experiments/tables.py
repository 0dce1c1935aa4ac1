"""Scores of runs, laid out as the tables of the configuration, and the files that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal import tables as tabular
from arena._internal.files import atomic_write, write_json
from arena.results.experiments.config import Experiment, Reference, Row, Table
from arena.results.experiments.grid import RUNS, Grid, directory_of

VERSION = 1
TABLES = "tables"
TABLE_FILES = (f"{TABLES}.md", f"{TABLES}.tex", f"{TABLES}.json")
_LARGE = 10  # a metric with values like this is no share, and four decimals say nothing
Scores = Mapping[str, Mapping[str, Any]]
"""Directory of a run -> what `score_cell` returns; a run that failed is absent."""


class Block(NamedTuple):
    """Rows under one header.

    Attributes:
        name: Distinguishes the blocks of a table: ``rows``, ``more`` or ``paper``.
        title: Its heading.
        header: Names of the columns.
        rows: Cells; numbers as text, None where there is none.
        align: One letter per column.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    align: str


def lay_out(
    experiment: Experiment, grid: Grid, table: Table, scores: Scores, engines: Mapping[str, str]
) -> dict[str, Any]:
    """Return one table as ``tables.json`` has it.

    Args:
        experiment: The configuration.
        grid: Its runs.
        table: One of its tables.
        scores: The scores of the runs.
        engines: Label of a retriever -> its description.
    """
    labels = list(experiment.retrievers) if table.by_retriever else [None]
    columns = [(heading, label) for heading in table.metrics for label in labels]
    header = [*([table.group] if table.group else []), "Agent"]
    align = "l" * len(header) + "r" * len(columns)
    header += [heading if label is None else f"{heading}, {label}" for heading, label in columns]
    values = {
        (row.label, heading, label): _value(grid, table, row, heading, label, scores)
        for row in table.all_rows
        for heading, label in columns
    }

    def number(row: Row, heading: str, label: str | None) -> str | None:
        value = values[row.label, heading, label]
        column = [v for key, v in values.items() if key[1] == heading and v is not None]
        decimals = 2 if any(abs(v) >= _LARGE for v in column) else 4
        return None if value is None else f"{value:.{decimals}f}"

    blocks = []
    for name, title, rows in (("rows", "", table.rows), ("more", "Further agents", table.more)):
        cells = tuple(
            (
                *([row.group or ""] if table.group else []),
                row.label,
                *(number(row, *column) for column in columns),
            )
            for row in rows.values()
        )
        blocks += [Block(name, title, tuple(header), cells, align)] if cells else []
    if table.paper is not None:
        blocks.append(_reference(table.paper))
    return {
        "title": table.title,
        "task": table.task,
        "blocks": [block._asdict() for block in blocks],
        "notes": _notes(experiment, grid, table, scores, engines),
    }


def _value(
    grid: Grid, table: Table, row: Row, heading: str, label: str | None, scores: Scores
) -> float | None:
    if label is not None and row.retriever not in (None, label):
        return None
    score = scores.get(directory_of(table.task, row.label, label or str(row.retriever)))
    value = None if score is None else score["mean"].get(grid.reported[table.name, heading])
    return None if value is None else float(value)


def _reference(paper: Reference) -> Block:
    columns = list(zip(*paper.rows, strict=True))
    rows = tuple(zip(*map(_as_printed, columns), strict=True))
    numeric = [all(isinstance(v, int | float | None) for v in column) for column in columns]
    title = f"The paper, on its own corpus, not to be compared with the above ({paper.source})"
    return Block("paper", title, paper.header, rows, "".join("lr"[n] for n in numeric))


def _as_printed(column: Sequence[Any]) -> list[str | None]:
    """Give the numbers of a column the zeros at their ends back, which YAML drops."""
    places = [len(str(v).partition(".")[2]) for v in column if isinstance(v, float)]
    return [
        None if v is None else f"{v:.{max(places)}f}" if isinstance(v, float) else str(v)
        for v in column
    ]


def _notes(
    experiment: Experiment, grid: Grid, table: Table, scores: Scores, engines: Mapping[str, str]
) -> list[str]:
    """Return sentences on what the numbers are, and on what is missing."""
    runs = [
        (row, column, directory_of(table.task, row.label, column))
        for row in table.all_rows
        for column in experiment.engines_of(row)
    ]
    scored = [(row, column, scores[run]) for row, column, run in runs if run in scores]
    notes = []
    if scored:
        counts = scored[0][2]["counts"]
        left = f" ({counts['not_scored']} without labels)" if counts["not_scored"] else ""
        notes.append(
            f"Task {table.task}, mean over {counts['scored']} of {counts['surveys']} surveys{left}."
        )
    used = dict.fromkeys(column for _, column, _ in runs)
    notes.append("; ".join(f"{label}: {engines[label]}" for label in used) + ".")
    for row in table.all_rows:
        if row.retrievers:
            own = " or ".join(experiment.engines_of(row))
            notes.append(f"{row.label} searches {own} and also {', '.join(row.retrievers)}.")
    models: dict[str, dict[str, None]] = {}
    for row, _, run in runs:
        if grid.cells[run].asks:
            models.setdefault(str(grid.cells[run].options["model"]), {})[row.label] = None
    notes += [f"Model {model}: {', '.join(rows)}." for model, rows in models.items()]
    for heading in table.metrics:
        name = grid.reported[table.name, heading]
        if scored and all(name not in score["mean"] for *_, score in scored):
            notes.append(
                f"{heading}: not scored; it needs the extractor {experiment.extractor}, whose "
                "packages are not installed."
            )
            continue
        fewer = {
            number
            for *_, score in scored
            if (number := score["counts"].get("scored_by", {}).get(name)) is not None
            and number < score["counts"]["scored"]
        }
        if fewer:
            numbers = str(min(fewer)) + (f" to {max(fewer)}" if len(fewer) > 1 else "")
            which = f"over the {numbers} of them that have" if max(fewer) else "none has"
            notes.append(f"{heading}: {which} what it counts.")
    for row, column, score in scored:
        troubles = _troubles(score)
        if troubles:
            notes.append(f"{row.label} ({column}): {', '.join(troubles)}; they count.")
    gone = [f"{row.label} ({column})" for row, column, run in runs if run not in scores]
    if gone:
        notes.append(f"Not finished, and so without figures: {', '.join(gone)}.")
    return notes


def _troubles(score: Mapping[str, Any]) -> list[str]:
    """Return what went wrong inside episodes that count all the same."""
    llm = score.get("llm", {})
    counts = {
        "episodes with nothing submitted": score["nothing"],
        "episodes cut off by the budget": score["truncated"],
        "episodes that a limit, a refusal or silence of the model ended": llm.get("stopped", 0),
        "failed steps": llm.get("failed", 0),
    }
    return [f"{number} {what}" for what, number in counts.items() if number]


def write_tables(output: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``tables.json``, ``tables.md`` and ``tables.tex``; return the content of the first.

    Args:
        output: Directory of the experiment.
        content: The tables, with ``name``, ``title``, ``sha256`` and ``runs`` of the experiment.
    """
    plain: dict[str, Any] = json.loads(json.dumps(content, allow_nan=False))
    atomic_write(output / f"{TABLES}.md", _markdown(plain))
    atomic_write(output / f"{TABLES}.tex", _latex(plain))
    write_json(output / f"{TABLES}.json", plain)
    return plain


def _markdown(content: Mapping[str, Any]) -> str:
    escape = tabular.escape_markdown
    parts = [f"# {escape(content['title'])}"]
    for name, table in content["tables"].items():
        parts.append(f"## {escape(_heading(name, table))}")
        for block in table["blocks"]:
            parts += [escape(f"{block['title']}:")] if block["title"] else []
            parts.append(tabular.markdown(block["header"], block["rows"], align=block["align"]))
        parts.append("\n".join(f"- {escape(note)}" for note in table["notes"]))
    hashes = "\n".join(f"- {key}: `{value}`" for key, value in content["sha256"].items())
    runs = f"- each run: `{TABLES}.json` and `{RUNS}/`"
    return "\n\n".join([*parts, f"## What it was made from\n\n{hashes}\n{runs}"]) + "\n"


def _latex(content: Mapping[str, Any]) -> str:
    parts = []
    for name, table in content["tables"].items():
        parts.append("\n".join(f"% {' '.join(note.split())}" for note in table["notes"]))
        for block in table["blocks"]:
            caption = f"{table['title'].rstrip('.') or f'Table {name}'}."
            caption += f" {block['title']}." if block["title"] else ""
            end = "" if block["name"] == "rows" else f"-{block['name']}"
            parts.append(
                tabular.latex(
                    block["header"], block["rows"], caption=caption,
                    label=f"tab:{content['name']}-{name}{end}", align=block["align"],
                )
            )  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _heading(name: str, table: Mapping[str, Any]) -> str:
    title = table["title"].rstrip(".")
    return f"Table {name}. {title}." if title else f"Table {name}."


def printed(content: Mapping[str, Any]) -> str:
    """Return the tables for a terminal, without the published figures."""
    parts = []
    for name, table in content["tables"].items():
        lines = [_heading(name, table)]
        for block in table["blocks"]:
            if block["name"] == "paper":  # a screen has little room
                continue
            lines += ["", f"{block['title']}:"] if block["title"] else []
            lines += ["", tabular.text(block["header"], block["rows"], align=block["align"])]
        parts.append("\n".join([*lines, "", *table["notes"]]))
    return "\n\n".join(parts)
