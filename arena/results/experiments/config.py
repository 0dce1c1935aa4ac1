"""The configuration of an experiment: its form, read and checked; names are looked up later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, StrictInt, field_validator, model_validator

from arena._internal.settings import (
    ConfigSource,
    Place,
    Settings,
    Text,
    Whole,
    read_source,
    refusal,
)
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.tasks import DEFAULT_BUDGET, ENCODER, EXTRACTOR

FINDS = "discovery"
"""The task whose runs an episode of organization may begin with."""

LONGEST = {"agents": 45, "retrievers": 25}
"""Characters of a label: the name of a run in a comparison has both, and at most 80."""


class Engine(Settings):
    """A column of a table: a retriever and its options."""

    short: ClassVar[str | None] = "retriever"
    retriever: Text
    options: dict[str, Any] = Field(default={})


class Row(Settings):
    """A row of a table: an agent.

    Attributes:
        agent: A registered agent, ``oracle``, ``FILE.py:CLASS``, or a class.
        options: Keyword arguments of the agent.
        group: Text before the label, where the table has groups.
        retriever: Label of the one retriever that it plays with; None for all.
        retrievers: Further engines that a search may name, or labels of them.
        env_options: Further arguments of the environment.
        found: Label of the row whose discovery run an episode of organization begins with.
    """

    short: ClassVar[str | None] = "agent"
    agent: Any
    options: dict[str, Any] = Field(default={})
    group: Text | None = None
    retriever: Text | None = None
    retrievers: tuple[Text, ...] = ()
    env_options: dict[str, Any] = Field(default={})
    found: Text | None = None
    _place: Place = PrivateAttr(())

    @property
    def place(self) -> Place:
        """The keys that lead to the row in the configuration."""
        return self._place

    @property
    def label(self) -> str:
        """The name of the row in its table."""
        return str(self._place[-1])


class PublishedFigure(Settings):
    """Published figures, printed beside ours and never mixed with them."""

    source: Text
    header: tuple[Text, ...]
    rows: list[list[Any]]

    @model_validator(mode="after")
    def _check_widths(self) -> PublishedFigure:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.header):
                why = f"expected {len(self.header)} cells, as the header has."
                raise refusal(why, "rows", number)
        return self


class TableSpec(Settings):
    """One table.

    Attributes:
        title: Its caption, which may be empty.
        task: The task that is played.
        metrics: Heading -> metric.
        columns: ``retrievers`` where each metric has one column per retriever, ``metrics`` where
            it has one column and each row names its retriever.
        group: Heading of the groups' column, or None.
        rows: Label -> row, in order.
        more: Label -> row, of those that are printed apart.
        paper: The paper's own figures, or None.
    """

    title: str = ""
    task: Text
    metrics: dict[str, str]
    columns: Literal["retrievers", "metrics"] = "retrievers"
    group: Text | None = None
    rows: dict[str, Row] = Field(default={})
    more: dict[str, Row] = Field(default={})
    paper: PublishedFigure | None = None
    _name: str = PrivateAttr("")

    @field_validator("metrics", mode="before")
    @classmethod
    def _by_heading(cls, value: Any) -> Any:
        metrics = dict(enumerate(value)) if isinstance(value, list) else value
        if not isinstance(metrics, dict) or not metrics:
            raise refusal("expected `heading: metric`, one a line, or a list of metrics.")
        for key, metric in metrics.items():
            if not isinstance(metric, str):
                raise refusal(f"expected the name of a metric, not {clip(metric)}.", key)
        return {metric: metric for metric in value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check_rows(self) -> TableSpec:
        if not self.rows and not self.more:
            raise refusal("there is no row.", "rows")
        for label in self.rows.keys() & self.more.keys():
            why = "stands in `rows` and in `more`; give it another label."
            raise refusal(why, "more", label)
        for key, rows in (("rows", self.rows), ("more", self.more)):
            for label, row in rows.items():
                if row.group is not None and self.group is None:
                    why = "the table has no `group`, which names the column."
                    raise refusal(why, key, label, "group")
        return self

    @property
    def name(self) -> str:
        """Its number or name."""
        return self._name

    @property
    def by_retriever(self) -> bool:
        """Whether each metric has one column per retriever."""
        return self.columns == "retrievers"

    @property
    def all_rows(self) -> list[Row]:
        """All rows, those of `more` last."""
        return [*self.rows.values(), *self.more.values()]


class Experiment(Settings):
    """A whole configuration; docs/experiments.md describes its keys."""

    name: Text
    title: Text | None = None
    seed: Whole = 0
    surveys: list[str] | int | None = None
    budget: dict[str, StrictInt] = Field(default={})
    retrievers: dict[str, Engine] = Field(min_length=1)
    encoder: Text = ENCODER
    extractor: Text = EXTRACTOR
    llm: dict[str, Any] = Field(default={})
    tables: dict[str, TableSpec]
    _source: ConfigSource = PrivateAttr()
    _finders: dict[str, Row] = PrivateAttr()

    @field_validator("surveys", mode="plain")
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
            if name not in DEFAULT_BUDGET:
                raise refusal(f"no such key.{did_you_mean(name, DEFAULT_BUDGET)}", name)
        return value

    @field_validator("retrievers", mode="before")
    @classmethod
    def _some_retriever(cls, value: Any) -> Any:
        if value == {}:
            raise refusal("name at least one, such as `BM25: bm25`.")
        return value

    @model_validator(mode="after")
    def _check_rows(self) -> Experiment:
        if not self.tables:
            raise refusal("there is no table.", "tables")
        # Of equal labels the first table counts, for its line in messages.
        self._finders = {
            label: row
            for table in reversed(self.tables.values())
            if table.task == FINDS
            for label, row in [*table.rows.items(), *table.more.items()]
        }
        for name, table in self.tables.items():
            table._name = name
            for key, rows in (("rows", table.rows), ("more", table.more)):
                for label, row in rows.items():
                    row._place = ("tables", name, key, label)
                    self._check_row(row)
                    if row.retriever is None and not table.by_retriever:
                        first = next(iter(self.retrievers))
                        rows[label] = row.model_copy(update={"retriever": first})
        return self

    def _check_row(self, row: Row) -> None:
        if row.retriever is not None and row.retriever not in self.retrievers:
            hint = did_you_mean(row.retriever, self.retrievers)
            why = f"no retriever has the label {clip(row.retriever)}.{hint}"
            raise refusal(why, *row.place, "retriever")
        if row.found is not None and row.found not in self._finders:
            hint = did_you_mean(row.found, self._finders)
            raise refusal(f"no row of the task {FINDS}.{hint}", *row.place, "found")
        if row.found is not None and "found" in row.env_options:
            raise refusal("`found` stands in env_options too; give it once.", *row.place)

    @model_validator(mode="after")
    def _check_labels(self) -> Experiment:
        """Refuse labels that are equal as names of directories."""
        agents = {row.label for table in self.tables.values() for row in table.all_rows}
        for kind, labels in (("agents", agents), ("retrievers", set(self.retrievers))):
            taken: dict[str, str] = {}
            for label in sorted(labels):
                if len(label) > LONGEST[kind] or not label.isprintable():
                    raise refusal(
                        f"the label {clip(label)} of {kind} must have 1 to {LONGEST[kind]} "
                        "printable characters."
                    )
                other = taken.setdefault(slug(label), label)
                if other != label or not slug(label):
                    which = f"{clip(label)} and {clip(other)}" if other != label else clip(label)
                    why = "differ in nothing that a file name keeps" * (other != label)
                    raise refusal(
                        f"the labels of {kind} name directories by their letters and digits, and "
                        f"{which} {why or 'has none'}. Give another label."
                    )
        return self

    @property
    def source(self) -> ConfigSource:
        """The file or mapping that it was read from."""
        return self._source

    @property
    def heading(self) -> str:
        """Its title, or its name where it has none."""
        return self.title or self.name

    @property
    def finders(self) -> dict[str, Row]:
        """Label -> row of the task discovery, also of tables that are not made now."""
        return self._finders

    def engines_of(self, row: Row) -> list[str]:
        """Return the labels of the retrievers that a row plays with."""
        return list(self.retrievers) if row.retriever is None else [row.retriever]

    def locate(self, place: Place, error: ArenaError) -> ArenaError:
        """Return an error of the same kind that says where in the configuration it comes from."""
        return type(error)(f"{self.source.where(place)}: {error}")

    def picked(self, tables: Iterable[str] | None, agents: Iterable[str] | None) -> Experiment:
        """Return the experiment with these tables alone, and in them the rows of these agents.

        Args:
            tables: Names; None for all.
            agents: Labels of rows, or names of agents; None for all.

        Raises:
            UnknownNameError: if there is no such table or agent.
            DataError: if nothing is left.
        """
        kept = dict(self.tables)
        if tables is not None:
            wanted = self._known("table", tables, list(kept))
            kept = {name: table for name, table in kept.items() if name in wanted}
        if agents is not None:
            rows = [row for table in self.tables.values() for row in table.all_rows]
            names = [name for row in rows for name in _names(row)]
            wanted = self._known("agent", agents, names)
            for name, table in kept.items():
                rest = {
                    key: {label: row for label, row in part.items() if wanted & _names(row)}
                    for key, part in (("rows", table.rows), ("more", table.more))
                }
                kept[name] = table.model_copy(update=rest)
        kept = {name: table for name, table in kept.items() if table.all_rows}
        if not kept:
            raise DataError("none of the tables has a row of these agents. Name others.")
        return self.model_copy(update={"tables": kept})

    def _known(self, kind: str, names: Iterable[str], known: list[str]) -> set[str]:
        if isinstance(names, str):
            raise DataError(f"{kind}s={clip(names)} is one string; give a list.")
        wanted = {str(name) for name in names}
        for name in sorted(wanted - set(known)):
            raise UnknownNameError(
                f"no {kind} {clip(name)} in {self.source.name}.{did_you_mean(name, known)}"
            )
        return wanted


def _names(row: Row) -> set[str]:
    return {row.label, row.agent} if isinstance(row.agent, str) else {row.label}


def read_experiment(
    config: str | Path | Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    retrievers: Mapping[str, str] | None = None,
) -> Experiment:
    """Read a configuration and check its form; names are not looked up yet.

    Args:
        config: A YAML file, or a mapping like one.
        changes: Keys with dots between them, such as ``llm.model``, and their values.
        retrievers: Label -> name of the retriever that takes its place.

    Raises:
        DataError: if a key is unknown, missing or of another kind; the message names file and
            line.
        UnknownNameError: if no retriever has a label of `retrievers`.
    """
    source = read_source(config, "experiment", "docs/experiments.md")
    places: dict[Place, Any] = {
        tuple(name.split(".")): value for name, value in (changes or {}).items()
    }
    known = source.data.get("retrievers")
    for label, name in (retrievers or {}).items():
        if not isinstance(known, dict) or label not in known:
            raise UnknownNameError(
                f"no retriever has the label {clip(label)} in {source.name}."
                f"{did_you_mean(label, known if isinstance(known, dict) else {})}"
            )
        places["retrievers", label] = name
    source = source.changed(places)
    experiment = source.check(Experiment)
    experiment._source = source
    return experiment


def slug(label: str) -> str:
    """Return the name of a directory for a label.

    >>> slug("Zero-Shot"), slug("STORM.BM25"), slug("hybrid(bm25,dense)")
    ('zero-shot', 'storm.bm25', 'hybrid-bm25-dense')
    """
    return re.sub(r"[^a-z0-9._]+", "-", label.lower()).strip(".-_")[:100]
