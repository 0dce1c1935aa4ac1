"""What is changed in a configuration, or picked from it, for one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena._internal.settings.source import Place, Source
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.results.experiments.config import Experiment, Row


def changed(source: Source, changes: Mapping[str, Any], retrievers: Mapping[str, str]) -> Source:
    """Return a configuration with other values.

    Args:
        source: stays as it is.
        changes: keys with dots between them, such as ``llm.model``, and their values.
        retrievers: label -> the name of the retriever that stands there instead.

    Raises:
        DataError: if a key leads through something that is no mapping.
        UnknownNameError: if there is no such label.
    """
    known = source.data.get("retrievers")
    places: dict[Place, Any] = {tuple(name.split(".")): value for name, value in changes.items()}
    for label, name in retrievers.items():
        if label not in (known if isinstance(known, dict) else {}):
            raise UnknownNameError(
                f"no retriever has the label {clip(label)} in {source.name}."
                f"{did_you_mean(label, known if isinstance(known, dict) else {})}"
            )
        places["retrievers", label] = name
    return source.changed(places)


def picked(
    experiment: Experiment, tables: Iterable[str] | None, agents: Iterable[str] | None
) -> Experiment:
    """Return an experiment with these tables alone, and in them the rows of these agents.

    Args:
        experiment: stays as it is.
        tables: names; None for all.
        agents: labels of rows, or names of agents; None for all.

    Raises:
        UnknownNameError: if there is no such table or agent.
        DataError: if nothing is left.
    """
    kept = list(experiment.tables)
    if tables is not None:
        wanted = _known(tables, [table.name for table in kept], "table", experiment)
        kept = [table for table in kept if table.name in wanted]
    if agents is not None:
        rows = [row for table in experiment.tables for row in table.rows]
        named = [name for row in rows for name in (row.label, row.agent) if isinstance(name, str)]
        wanted = _known(agents, named, "agent", experiment)
        kept = [
            table._replace(rows=tuple(row for row in table.rows if _is_one_of(row, wanted)))
            for table in kept
        ]
    kept = [table for table in kept if table.rows]
    if not kept:
        raise DataError("none of the tables has a row of these agents. Name others.")
    return experiment._replace(tables=tuple(kept))


def _is_one_of(row: Row, names: set[str]) -> bool:
    return row.label in names or (isinstance(row.agent, str) and row.agent in names)


def _known(given: Iterable[str], known: list[str], kind: str, experiment: Experiment) -> set[str]:
    if isinstance(given, str):
        raise DataError(f"{kind}s={clip(given)} is one string; give a list.")
    names = {str(name) for name in given}
    for name in sorted(names):
        if name not in known:
            raise UnknownNameError(
                f"no {kind} {clip(name)} in {experiment.source.name}.{did_you_mean(name, known)}"
            )
    return names
