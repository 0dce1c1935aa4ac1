"""Links the references of one shard: the same code on this machine and on any other."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from arena._internal.files import write_json
from corpus_builder._appearing import appearing
from corpus_builder._links import DANGLING, LINKS
from corpus_builder.stages._database import connected, copy, count, literal

TABLES = ("citations", "bibliography")
"""Those of a shard that hold references."""

LINKED = "links.parquet"
"""One row a link between searchable papers, ordered by both ends."""

LISTED = "survey_references.parquet"
"""One row a reference of a survey: ``citing, cited, influential``."""

COUNTS = "counts.json"


class LinkTask(NamedTuple):
    """One shard whose references are to be linked.

    Attributes:
        name: of the shard.
        files: its tables ``citations`` and ``bibliography``, by name, as far as it has them.
        documents: see `corpus_builder.stages.references.DOCUMENTS`.
        surveys: parquet file with the column ``id`` of the surveys.
        mentions: see `corpus_builder.stages._config.References`.
        directory: where the tables go; appears when they are complete.
        memory: bytes that DuckDB may take.
    """

    name: str
    files: dict[str, Path]
    documents: Path
    surveys: Path
    mentions: int | None
    directory: Path
    memory: int


def link_shard(task: LinkTask) -> str:
    """Write ``links.parquet``, ``survey_references.parquet`` and counts of one shard.

    Returns:
        The name of the shard.
    """
    with appearing(task.directory) as new:
        with connected(new / "spill", task.memory, 1) as connection:
            connection.execute(
                f"CREATE VIEW documents AS SELECT * FROM read_parquet({literal(task.documents)});"
                f"CREATE VIEW surveys AS SELECT * FROM read_parquet({literal(task.surveys)});"
                f"CREATE VIEW staged_references AS {_references(task)}"
            )
            copy(connection, LINKS, new / LINKED, "citing, cited")
            listed = (
                "SELECT citing, cited, bool_or(influential) AS influential FROM staged_references "
                "WHERE citing IN (SELECT id FROM surveys) AND citing <> cited GROUP BY ALL"
            )
            copy(connection, listed, new / LISTED, "citing, cited")
            counts = {"dangling": count(connection, DANGLING)}
        shutil.rmtree(new / "spill", ignore_errors=True)
        write_json(new / COUNTS, counts)
    return task.name


def _references(task: LinkTask) -> str:
    """Return a query for all references of a shard."""
    influential = "false" if task.mentions is None else f"mentions >= {task.mentions}"
    marks = {"citations": "influential", "bibliography": influential}
    parts = [
        f"SELECT citing, cited, {marks[name]} AS influential FROM read_parquet({literal(path)})"
        for name, path in sorted(task.files.items())
    ]
    return " UNION ALL ".join(parts)
