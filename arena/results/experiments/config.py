"""What an experiment is: agents, retrievers, and the tables that they are laid out in."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from arena._internal.settings.source import Place, Source
from arena.errors import ArenaError

FINDS = "discovery"
"""The task whose runs an episode of organization may begin with."""

LONGEST = {"agents": 45, "retrievers": 25}
"""Characters of a label: the name of a run in a comparison has both, and at most 80."""


class Engine(NamedTuple):
    """A column: a retriever and its options."""

    retriever: str
    options: dict[str, Any]


class Row(NamedTuple):
    """An agent as it stands in a table.

    Attributes:
        label: what the table calls it.
        agent: a registered agent, ``oracle``, or ``FILE.py:CLASS``.
        options: of the agent.
        group: what stands before the label, where the table has groups.
        retriever: the one label of a retriever that it plays with; None for all.
        retrievers: further engines that a search may name, or labels of them.
        env_options: further arguments of the environment.
        found: the label of the row whose discovery run an episode of organization begins with.
        more: whether it is added to those of the paper.
        place: where it stands in the configuration.
    """

    label: str
    agent: Any
    options: dict[str, Any]
    group: str | None
    retriever: str | None
    retrievers: tuple[str, ...]
    env_options: dict[str, Any]
    found: str | None
    more: bool
    place: Place


class Reference(NamedTuple):
    """Figures of others, to be laid beside ours and never mixed with them."""

    source: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Table(NamedTuple):
    """One table.

    Attributes:
        name: its number or name.
        title: its caption, which may be empty.
        task: what is played.
        metrics: heading -> metric.
        by_retriever: whether each metric has a column a retriever.
        group: heading of the groups' column, or None.
        rows: in order, those of the paper before those that are added.
        paper: the paper's own figures, or None.
    """

    name: str
    title: str
    task: str
    metrics: dict[str, str]
    by_retriever: bool
    group: str | None
    rows: tuple[Row, ...]
    paper: Reference | None


class Experiment(NamedTuple):
    """A whole configuration; see docs/experiments.md for its keys.

    Attributes:
        finders: label -> row of the task discovery, also of tables that are not laid out now.
        source: what it was read from.
    """

    name: str
    title: str
    seed: int
    surveys: list[str] | int | None
    budget: dict[str, int]
    retrievers: dict[str, Engine]
    encoder: str
    extractor: str
    llm: dict[str, Any]
    tables: tuple[Table, ...]
    finders: dict[str, Row]
    source: Source


def told_where(experiment: Experiment, place: Place, error: ArenaError) -> ArenaError:
    """Return an error of the same kind that says where in the configuration it comes from."""
    return type(error)(f"{experiment.source.where(place)}: {error}")


def slug(label: str) -> str:
    """Return the name of a directory for a label.

    >>> slug("Zero-Shot"), slug("STORM.BM25"), slug("hybrid(bm25,dense)")
    ('zero-shot', 'storm.bm25', 'hybrid-bm25-dense')
    """
    return re.sub(r"[^a-z0-9._]+", "-", label.lower()).strip(".-_")[:100]
