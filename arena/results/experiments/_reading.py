"""A configuration read: its form is checked, names are not looked up yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena._internal.settings.section import Section
from arena._internal.settings.source import Place, Source, read_source
from arena.errors import DataError, clip, did_you_mean
from arena.results.experiments.config import (
    FINDS,
    LONGEST,
    Engine,
    Experiment,
    Reference,
    Row,
    Table,
    slug,
)

_KEYS = ("name", "title", "seed", "surveys", "budget", "retrievers", "encoder", "extractor", "llm",
         "tables")  # fmt: skip
_ENGINE = ("retriever", "options")
_TABLE = ("title", "task", "metrics", "columns", "group", "rows", "more", "paper")
_ROW = ("agent", "options", "group", "retriever", "retrievers", "env_options", "found")
_PAPER = ("source", "header", "rows")
COLUMNS = ("retrievers", "metrics")


def read_experiment(config: str | Path | Mapping[str, Any] | Source) -> Experiment:
    """Read a configuration and check its form; names are not looked up yet.

    Raises:
        DataError: if a key is unknown, missing or of another kind; the message names file and
            line.
    """
    from arena.tasks import DEFAULT_BUDGET, ENCODER, EXTRACTOR

    source = config if isinstance(config, Source) else read_source(config)
    root = Section(source, (), source.data, _KEYS)
    budget = root.mapping("budget", {})
    limits = Section(source, ("budget",), budget, DEFAULT_BUDGET)
    for limit, value in budget.items():
        if isinstance(value, bool) or not isinstance(value, int):
            limits.refuse((limit,), f"expected an integer, not {clip(value)}.")
    seed = root.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        root.refuse(("seed",), f"expected an integer >= 0, not {clip(seed)}.")
    retrievers = {
        label: _engine(source, label, value) for label, value in root.mapping("retrievers").items()
    }
    if not retrievers:
        root.refuse(("retrievers",), "name at least one, such as `BM25: bm25`.")
    tables = tuple(
        _table(source, name, value, retrievers) for name, value in root.mapping("tables").items()
    )
    if not tables:
        root.refuse(("tables",), "there is no table.")
    name = root.text("name")
    first = reversed(tables)  # of equal labels the first table counts, for its line in messages
    finders = {row.label: row for table in first if table.task == FINDS for row in table.rows}
    experiment = Experiment(
        name, root.text("title", name), seed, _surveys(root), budget, retrievers,
        root.text("encoder", ENCODER), root.text("extractor", EXTRACTOR), root.mapping("llm", {}),
        tables, finders, source,
    )  # fmt: skip
    _check_found(experiment)
    _check_labels(experiment)
    return experiment


def _surveys(root: Section) -> list[str] | int | None:
    value = root.get("surveys", "all")
    if value == "all":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, list):
        root.refuse(("surveys",), f"expected `all`, a number or a list of ids, not {clip(value)}.")
    return [str(item) for item in value]


def _engine(source: Source, label: str, value: Any) -> Engine:
    if isinstance(value, str):
        return Engine(value, {})
    part = Section(source, ("retrievers", label), value, _ENGINE)
    return Engine(part.text("retriever"), part.mapping("options", {}))


def _table(source: Source, name: str, value: Any, retrievers: Mapping[str, Engine]) -> Table:
    place: Place = ("tables", name)
    part = Section(source, place, value, _TABLE)
    metrics = part.get("metrics")
    if isinstance(metrics, list):
        metrics = {metric: metric for metric in part.texts("metrics")}
    if not isinstance(metrics, dict) or not metrics:
        part.refuse(("metrics",), "expected `heading: metric`, one a line, or a list of metrics.")
    for heading, metric in metrics.items():
        if not isinstance(metric, str):
            part.refuse(("metrics", heading), f"expected the name of a metric, not {clip(metric)}.")
    columns = part.text("columns", COLUMNS[0])
    if columns not in COLUMNS:
        part.refuse(("columns",), f"{clip(columns)}.{did_you_mean(columns, COLUMNS)}")
    group = part.text("group", None)
    by_retriever = columns == COLUMNS[0]
    rows = [
        _row(source, (*place, key, label), row, key == "more", retrievers, by_retriever, group)
        for key in ("rows", "more")
        for label, row in part.mapping(key, {}).items()
    ]
    if not rows:
        part.refuse(("rows",), "there is no row.")
    labels = [row.label for row in rows]
    for row in rows:
        if labels.count(row.label) > 1:
            part.refuse(row.place[2:], "stands in `rows` and in `more`; give it another label.")
    paper = _reference(source, (*place, "paper"), part.get("paper")) if part.has("paper") else None
    task = part.text("task")
    return Table(
        name, part.text("title", ""), task, metrics, by_retriever, group, tuple(rows), paper
    )


def _row(
    source: Source, place: Place, value: Any, more: bool, retrievers: Mapping[str, Engine],
    by_retriever: bool, group: str | None,
) -> Row:  # fmt: skip
    part = Section(source, place, value if isinstance(value, dict) else {"agent": value}, _ROW)
    retriever = part.text("retriever", None)
    if retriever is not None and retriever not in retrievers:
        hint = did_you_mean(retriever, retrievers)
        part.refuse(("retriever",), f"no retriever has the label {clip(retriever)}.{hint}")
    if retriever is None and not by_retriever:
        retriever = next(iter(retrievers))
    if part.has("group") and group is None:
        part.refuse(("group",), "the table has no `group`, which names the column.")
    return Row(
        str(place[-1]), part.get("agent"), part.mapping("options", {}), part.text("group", None),
        retriever, tuple(part.texts("retrievers", [])), part.mapping("env_options", {}),
        part.text("found", None), more, place,
    )  # fmt: skip


def _reference(source: Source, place: Place, value: Any) -> Reference:
    part = Section(source, place, value, _PAPER)
    header, rows = part.texts("header"), part.get("rows")
    if not isinstance(rows, list):
        part.refuse(("rows",), "expected a list of rows.")
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(header):
            part.refuse(("rows", number), f"expected {len(header)} cells, as the header has.")
    return Reference(part.text("source"), tuple(header), tuple(tuple(row) for row in rows))


def _check_found(experiment: Experiment) -> None:
    """Refuse a row that begins with what another finds, where there is no such other."""
    for row in (row for table in experiment.tables for row in table.rows):
        if row.found is not None and row.found not in experiment.finders:
            hint = did_you_mean(row.found, experiment.finders)
            _refuse(experiment, (*row.place, "found"), f"no row of the task {FINDS}.{hint}")
        if row.found is not None and "found" in row.env_options:
            _refuse(experiment, row.place, "`found` stands in env_options too; give it once.")


def _check_labels(experiment: Experiment) -> None:
    """Refuse labels that cannot be told apart as names of directories."""
    labels: dict[str, set[str]] = {"agents": set(), "retrievers": set(experiment.retrievers)}
    labels["agents"] = {row.label for table in experiment.tables for row in table.rows}
    for kind, known in labels.items():
        taken: dict[str, str] = {}
        for label in sorted(known):
            if len(label) > LONGEST[kind] or not label.isprintable():
                raise DataError(
                    f"{experiment.source.name}: the label {clip(label)} of {kind} must have 1 to "
                    f"{LONGEST[kind]} printable characters."
                )
            other = taken.setdefault(slug(label), label)
            if other != label or not slug(label):
                told = f"{clip(label)} and {clip(other)}" if other != label else clip(label)
                why = "differ in nothing that a file name keeps" if other != label else "has none"
                raise DataError(
                    f"{experiment.source.name}: the labels of {kind} name directories by their "
                    f"letters and digits, and {told} {why}. Give another label."
                )


def _refuse(experiment: Experiment, place: Place, why: str) -> None:
    raise DataError(f"{experiment.source.where(place)}: {why}")
