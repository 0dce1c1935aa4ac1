"""DuckDB as the stages use it: in bounded memory, with what does not fit on disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from corpus_builder.release import TABLES


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
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=config) as connection:
        yield connection


def execute(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Execute a statement that may take long, and stay open to Ctrl-C meanwhile.

    While DuckDB works with several threads, the calling one only waits, and hears no signal.
    """
    errors: list[BaseException] = []

    def work() -> None:
        try:
            connection.execute(sql)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
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


def literal(path: Path) -> str:
    """Return a path as an SQL string that stands for this file alone, not for a pattern."""
    return "'" + re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''") + "'"


def view_tables(connection: duckdb.DuckDBPyConnection, shards: Path) -> None:
    """Make a view of each table of `TABLES` over all shards that were read.

    Args:
        connection: gets the views.
        shards: directory with the tables of each shard, at any depth.
    """
    for table, schema in TABLES.items():
        files = sorted(shards.rglob(f"{table}.parquet"))
        columns = ", ".join(f'"{name}"' for name in schema.names)
        if files:
            names = ", ".join(literal(path) for path in files)
            source = f"SELECT {columns} FROM read_parquet([{names}])"
        else:
            nothing = ", ".join(
                f'NULL::{_sql_type(str(schema.field(n).type))} AS "{n}"' for n in schema.names
            )
            source = f"SELECT {nothing} WHERE false"
        connection.execute(f"CREATE VIEW {table} AS {source}")


def _sql_type(arrow: str) -> str:
    if "struct" in arrow:
        return "STRUCT(heading VARCHAR, text VARCHAR)[]"
    if arrow.startswith("list"):
        return "VARCHAR[]"
    return {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN"}[arrow]
