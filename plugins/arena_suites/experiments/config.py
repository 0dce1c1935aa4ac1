"""The configuration of an experiment: its form, read and checked; names are looked up later.

docs/experiments.md describes every key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    PrivateAttr,
    StrictInt,
    field_validator,
    model_validator,
)

from arena.envs.config import LIMITS
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.metrics import ENCODER, EXTRACTOR
from arena.text.display import count
from corpus_builder.settings import (
    ConfigSource,
    Place,
    Settings,
    Text,
    Whole,
    read_source,
    refusal,
)

FINDS = "discovery"
"""The task whose runs an episode of organization may begin with."""
RUNS = "runs"
"""Folder of the runs of an experiment."""


class Engine(Settings):
    """A column of a table: a retriever and its options."""

    short: ClassVar[str | None] = "retriever"
    retriever: Text
    options: dict[str, Any] = Field(default={})


def _without_path(agent: Any) -> str:
    return str(getattr(agent, "__qualname__", agent)).rpartition(":")[2]


class Row(Settings):
    """A row of a table: an agent."""

    short: ClassVar[str | None] = "agent"
    agent: Annotated[Any, PlainSerializer(_without_path)]
    options: dict[str, Any] = Field(default={})
    group: Text | None = None
    retriever: Text | None = None
    retrievers: tuple[Text, ...] = ()
    env_options: dict[str, Any] = Field(default={})
    start_from: Text | None = None


class PublishedFigure(Settings):
    """Published figures, which stand in a block of their own."""

    source: Text
    used: dict[Literal["encoder", "extractor", "vectors"], dict[str, Text]] = Field(default={})
    header: tuple[Text, ...]
    rows: list[list[Any]]

    @model_validator(mode="after")
    def _check_widths(self) -> PublishedFigure:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.header):
                why = f"expected {count(len(self.header), 'cell')}, as the header has."
                raise refusal(why, "rows", number)
        return self


def _check_name(name: str | None, known: Collection[str], why: str, *place: Any) -> None:
    if name is not None and name not in known:
        raise refusal(f"{why}{did_you_mean(name, known)}", *place)


def _by_heading(value: Any) -> Any:
    return {str(metric): metric for metric in value} if isinstance(value, list) else value


class TableSpec(Settings):
    """One table."""

    title: str = ""
    task: Text
    metrics: Annotated[dict[str, str], BeforeValidator(_by_heading), Field(min_length=1)]
    noted: dict[str, str] = Field(default={})
    columns: Literal["retrievers", "metrics"] = "retrievers"
    group: Text | None = None
    baseline: Text | None = None
    rows: dict[str, Row] = Field(default={})
    more: dict[str, Row] = Field(default={})
    paper: PublishedFigure | None = None

    @property
    def all_rows(self) -> dict[str, Row]:
        """Label -> row, those of `more` last."""
        return {**self.rows, **self.more}


class Experiment(Settings):
    """A whole configuration."""

    name: Text
    title: Text | None = None
    seed: Whole = 0
    topics: list[str] | int | None = None
    budget: dict[str, StrictInt] = Field(default={})
    retrievers: dict[str, Engine] = Field(default={"BM25": Engine(retriever="bm25")}, min_length=1)
    encoder: Text = ENCODER
    extractor: Text = EXTRACTOR
    extractor_options: dict[str, Any] = Field(default={})
    llm: dict[str, Any] = Field(default={})
    judge: dict[str, Any] = Field(default={})
    tables: dict[str, TableSpec] = Field(min_length=1)
    _source: ConfigSource = PrivateAttr()
    _finders: dict[str, Row] = PrivateAttr()

    @field_validator("topics", mode="plain")
    @classmethod
    def _chosen(cls, value: Any) -> list[str] | int | None:
        if value == "all":
            return None
        if isinstance(value, list):
            return [str(item) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise refusal(f"expected `all`, a number or a list of ids, not {clip(value)}.")

    @field_validator("budget")
    @classmethod
    def _known_limits(cls, value: dict[str, int]) -> dict[str, int]:
        for name in value:
            _check_name(name, LIMITS, "no such key.", name)
        return value

    @model_validator(mode="after")
    def _check_rows(self) -> Experiment:
        for name, table in self.tables.items():
            if not table.all_rows:
                raise refusal("there is no row.", "tables", name, "rows")
            why = f"no row has the label {clip(table.baseline)}."
            _check_name(table.baseline, table.all_rows, why, "tables", name, "baseline")
            for label in table.rows.keys() & table.more.keys():
                why = "is in `rows` and in `more`; give it another label."
                raise refusal(why, "tables", name, "more", label)
        placed = list(self.placed_rows())
        self._finders = {p[-1]: row for p, row in placed if self.tables[p[1]].task == FINDS}
        for place, row in placed:
            if row.group is not None and self.tables[place[1]].group is None:
                why = "the table has no `group`, which names the column."
                raise refusal(why, *place, "group")
            why = f"no retriever has the label {clip(row.retriever)}."
            _check_name(row.retriever, self.retrievers, why, *place, "retriever")
            _check_name(
                row.start_from, self._finders, f"no row of the task {FINDS}.", *place, "start_from"
            )
            if row.start_from is not None and "start_from" in row.env_options:
                raise refusal("`start_from` is in env_options too; give it once.", *place)
        return self

    def placed_rows(self) -> Iterator[tuple[Place, Row]]:
        """Yield each row after its place, ``("tables", table, "rows" or "more", label)``."""
        for name, table in self.tables.items():
            for key in ("rows", "more"):
                for label, row in getattr(table, key).items():
                    yield ("tables", name, key, label), row

    def finder(self, label: str) -> Row:
        """Return the row of a label of the task discovery, also of tables not made now."""
        return self._finders[label]

    def engines_of(self, table: TableSpec, row: Row) -> list[str]:
        """Return the labels of the retrievers that a row plays with."""
        if row.retriever is not None:
            return [row.retriever]
        return list(self.retrievers)[: None if table.columns == "retrievers" else 1]

    def runs_of(self, table: TableSpec) -> Iterator[tuple[str, Row, str, str]]:
        """Yield label, row, label of the retriever, and directory of each run of a table."""
        for label, row in table.all_rows.items():
            for column in self.engines_of(table, row):
                yield label, row, column, directory_of(table.task, label, column)

    @property
    def folder(self) -> Path:
        """The directory of the configuration's file."""
        return self._source.folder

    @contextmanager
    def located(self, *place: Any) -> Iterator[None]:
        """Let an error of the block say where in the configuration it comes from."""
        try:
            yield
        except ArenaError as error:
            where, parts = self._source.where(place), getattr(error, "parts", ())
            raise type(error)(f"{where}: {error}", *parts) from None

    def _picked(self, tables: Sequence[str] | None, agents: Sequence[str] | None) -> Experiment:
        """Return the experiment with these tables alone, and in them the rows of these agents."""
        labels = {name for place, row in self.placed_rows() for name in (place[-1], str(row.agent))}
        for kind, names, known in (("agent", agents, labels), ("table", tables, set(self.tables))):
            for name in sorted(set(map(str, names or ())) - known):
                raise UnknownNameError(
                    f"no {kind} {clip(name)} in {self._source.name}.{did_you_mean(name, known)}"
                )
        wanted = labels if agents is None else set(map(str, agents))

        def choose(rows: dict[str, Row]) -> dict[str, Row]:
            return {label: row for label, row in rows.items() if wanted & {label, str(row.agent)}}

        specs = {
            name: table.model_copy(update={"rows": choose(table.rows), "more": choose(table.more)})
            for name, table in self.tables.items()
            if choose(table.all_rows) and (tables is None or name in map(str, tables))
        }
        if not specs:
            raise DataError("none of the tables has a row of these agents. Name others.")
        return self.model_copy(update={"tables": specs})


def read_experiment(
    config: str | Path | Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    tables: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    topics: Sequence[str] | int | None = None,
    add: Mapping[str, Any] | None = None,
) -> Experiment:
    """Read a configuration and check its form; the arguments are those of `run_experiment`.

    Raises:
        DataError: A key is unknown, missing or of another kind; the message names file and key.
        UnknownNameError: There is no such table or agent.
    """
    source = read_source(config, "experiment", "docs/experiments.md")
    source = source.changed({tuple(key.split(".")): new for key, new in (changes or {}).items()})
    experiment, places = source.check(Experiment), dict[Place, Any]()
    if topics is not None:
        places["topics",] = topics if isinstance(topics, int) else list(topics)
    for label, row in (add or {}).items():
        for table, spec in experiment.tables.items():
            if label in spec.all_rows:
                raise DataError(
                    f"the table {table!r} has a row {clip(label)}. Give your agent another label."
                )
            places["tables", table, "rows", label] = row
    source = source.changed(places)
    experiment = source.check(Experiment)
    experiment._source = source
    return experiment._picked(tables, agents)


def slug(label: str) -> str:
    """Return the name of a directory for a label.

    >>> slug("Zero-Shot"), slug("STORM.BM25"), slug("hybrid(bm25,dense)"), slug("密集")
    ('zero-shot', 'storm.bm25', 'hybrid-bm25-dense', '638668ba')
    """
    kept = re.sub(r"[^a-z0-9._]+", "-", label.lower()).strip(".-_")[:100]
    return kept or hashlib.sha256(label.encode("utf-8", "replace")).hexdigest()[:8]


def directory_of(task: str, label: str, column: str) -> str:
    """Return the directory of a run, relative to the experiment."""
    return f"{RUNS}/{task}/{slug(label)}/{slug(column)}"
