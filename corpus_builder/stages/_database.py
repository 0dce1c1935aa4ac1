"""The tables of a release's shards, as DuckDB sees them, and what stages make of them."""

from __future__ import annotations

from pathlib import Path

import duckdb

from corpus_builder._duckdb import connected, count, execute, literal, rows, target
from corpus_builder.release import TABLES

__all__ = ["connected", "copy", "count", "execute", "literal", "rows", "target", "view_tables"]


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


def copy(connection: duckdb.DuckDBPyConnection, sql: str, path: Path, order: str) -> None:
    """Write the rows of a query, in the order of these columns, into a file that appears whole."""
    new = path.with_name(f".{path.name}")
    execute(
        connection,
        f"COPY (SELECT * FROM ({sql}) ORDER BY {order}) TO {target(new)} "
        "(FORMAT parquet, COMPRESSION zstd)",
    )
    new.rename(path)


def _sql_type(arrow: str) -> str:
    if "struct" in arrow:
        return "STRUCT(heading VARCHAR, text VARCHAR)[]"
    if arrow.startswith("list"):
        return "VARCHAR[]"
    return {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN"}[arrow]
