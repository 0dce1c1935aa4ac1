"""Second pass: find the document order, out of core, with DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from arena.errors import DataError, clip

_MEMORY_LIMIT = "1GB"

_STAGED = ("papers", "surveys", "references", "survey_references")

# A paper with the id or the title of a survey task is that survey, whatever its own flag says:
# hiding a namesake costs a paper, showing the survey would give the task away.
_DOCUMENTS = """
CREATE TABLE documents AS
SELECT (row_number() OVER (ORDER BY day NULLS LAST, id) - 1)::INTEGER AS document,
       id, day, survey, day IS NOT NULL AND NOT survey AS searchable
FROM (SELECT id, day, is_survey
             OR id IN (SELECT id FROM staged_surveys)
             OR title_key IN (SELECT title_key FROM staged_surveys WHERE title_key <> '')
             AS survey
      FROM staged_papers)
"""


@contextmanager
def database(staging: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database over the staged files, with the table ``documents`` in document order.

    ``documents(document, id, day, survey, searchable)`` has one row a paper.

    Raises:
        DataError: if an id occurs twice.
    """
    config: dict[str, Any] = {
        "memory_limit": _MEMORY_LIMIT,
        # With more, the main thread at times only waits, and deaf to Ctrl-C until a query is done.
        "threads": 1,
        "temp_directory": str(staging / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=config) as connection:  # in memory, what exceeds it in spill
        for name in _STAGED:
            connection.execute(
                f"CREATE VIEW staged_{name} AS "
                f"SELECT * FROM read_parquet({_literal(staging / f'{name}.parquet')})"
            )
        for name in ("papers", "surveys"):
            _refuse_duplicates(connection, name)
        connection.execute(_DOCUMENTS)
        yield connection


def batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query a thousand at a time, without holding them all."""
    result = connection.cursor().execute(sql)
    while batch := result.fetchmany(1024):
        yield batch


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query without holding them all."""
    for batch in batches(connection, sql):
        yield from batch


def count(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Return the one number that a query gives."""
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0


def _literal(path: Path) -> str:
    """Return a path as an SQL string that stands for this file alone, not for a pattern."""
    return "'" + re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''") + "'"


def _refuse_duplicates(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    twice = connection.execute(
        f"SELECT id, min(file), min(line, 2) AS lines FROM staged_{name} "
        "GROUP BY id HAVING count(*) > 1 ORDER BY lines[2], id LIMIT 1"
    ).fetchone()
    if twice:
        identifier, file, (first, second) = twice
        raise DataError(
            f"{file} lines {first} and {second}: both have id {clip(identifier)}. "
            "Ids are unique; remove or rename one."
        )
