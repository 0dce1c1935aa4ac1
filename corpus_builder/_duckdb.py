"""DuckDB as a build uses it: in bounded memory, with what does not fit on disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

T = TypeVar("T")


@contextmanager
def connected(scratch: Path, memory: int, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an empty database.

    Args:
        scratch: for what does not fit into `memory`.
        memory: bytes.
        threads: that a query may use.
    """
    config: dict[str, Any] = {
        "memory_limit": f"{memory // 1000}kB",
        "threads": threads,
        "temp_directory": str(scratch),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=config) as connection:
        yield connection


def execute(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Execute a statement that may take long, and stay open to Ctrl-C meanwhile."""
    _aside(connection, lambda: connection.execute(sql))


def batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query a thousand at a time, without holding them all."""
    cursor = connection.cursor()
    _aside(cursor, lambda: cursor.execute(sql))
    while batch := cursor.fetchmany(1024):
        yield batch


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query without holding them all."""
    for batch in batches(connection, sql):
        yield from batch


def tables(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query as columns, without holding them all."""
    cursor = connection.cursor()
    reader = _aside(cursor, lambda: cursor.sql(sql).to_arrow_reader(1 << 16))
    yield from reader


def count(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Return the one number that a query gives."""
    cursor = connection.cursor()
    row = _aside(cursor, lambda: cursor.execute(sql).fetchone())
    return int(row[0]) if row else 0


def literal(path: Path) -> str:
    """Return a path as an SQL string that stands for this file alone, not for a pattern."""
    return "'" + re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''") + "'"


def _aside(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Do `work` in a thread of its own.

    While DuckDB works with several threads, the one that called it only waits, and hears no signal.
    """
    found: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except KeyboardInterrupt:
        connection.interrupt()
        thread.join()
        raise
    if errors:
        raise errors[0]
    return found[0]
