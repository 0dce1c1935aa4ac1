"""DuckDB for builds: bounded memory, the rest on disk, interruptible queries."""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from arena.errors import DataError
from corpus_builder.files import read_rows

T = TypeVar("T")
_FILES = 128
"""Into which rows are split that are too wide to be sorted at once."""


@contextmanager
def readable_errors(what: str, advice: str, damaged: str = "") -> Iterator[None]:
    """Turn errors of DuckDB, Arrow and the system into one line for people.

    The line says what has failed, with the path that the user gave, and what to do: `advice` about
    a full disk or a target that cannot be written, `damaged` about files that cannot be read.
    """
    try:
        yield
    except (duckdb.Error, RuntimeError, pa.ArrowException, json.JSONDecodeError) as error:
        if isinstance(error, duckdb.Error | RuntimeError) and "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        if isinstance(error, RuntimeError | duckdb.CatalogException | duckdb.BinderException):
            raise  # a bug
        why = str(error).splitlines()[0].rstrip(".")
        if not isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
            raise DataError(f"{what}: {why}. {damaged}".strip()) from error
    except OSError as error:
        why = (error.strerror or str(error)).rstrip(".")
        raise OSError(f"{what}: {why}. {advice}") from error
    else:
        return
    raise OSError(f"{what}: {why}. {advice}")


@contextmanager
def connected(scratch: Path, memory: int, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an empty database that takes so many bytes, and spills the rest into `scratch`."""
    config: dict[str, Any] = {
        "memory_limit": f"{memory // 1000}kB",
        "threads": threads,
        "temp_directory": str(scratch),
        "preserve_insertion_order": False,  # takes memory; queries that need an order ask for it
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    connection = duckdb.connect(config=config)
    try:
        yield connection
    finally:
        with suppress(duckdb.Error):  # an interrupted query may still run
            connection.close()


def execute(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Execute a statement that may take long and that Ctrl-C can interrupt."""
    _aside(connection, lambda: connection.execute(sql))


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query without holding them all."""
    cursor = connection.cursor()
    _aside(cursor, lambda: cursor.execute(sql))
    while batch := cursor.fetchmany(1024):
        yield from batch


def sorted_rows(
    connection: duckdb.DuckDBPyConnection, sql: str, order: str, path: Path
) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a query ordered by columns, through the file `path`, which is removed.

    So several such queries can be read side by side while only one is sorted at a time. The first
    column is the document. DuckDB cannot sort gigabytes of full texts in little memory: then they
    go to files of some documents each, which are sorted one after the other.
    """
    copied = f"TO {target(path)} (FORMAT parquet, ROW_GROUP_SIZE 2048)"
    try:
        execute(connection, f"COPY (SELECT * FROM ({sql}) ORDER BY {order}) {copied}")
    except duckdb.OutOfMemoryException:
        path.unlink(missing_ok=True)
        paths = _split(connection, sql, path)
        queries = (f"FROM read_parquet({literal(each)}) ORDER BY {order}" for each in paths)
        found = (rows(connection, query) for query in queries)
        return chain.from_iterable(map(_removing, found, paths))
    return _removing(read_rows(path, batch=256), path)


def _removing(found: Iterator[tuple[Any, ...]], path: Path) -> Iterator[tuple[Any, ...]]:
    yield from found
    path.unlink()


def _split(connection: duckdb.DuckDBPyConnection, sql: str, path: Path) -> list[Path]:
    """Write the rows of a query into files of as many documents each, in order of these."""
    size = scalar(connection, "SELECT count(*) FROM documents") // _FILES + 1
    cursor = connection.cursor()
    reader = _aside(cursor, lambda: cursor.sql(sql).to_arrow_reader(4096))
    paths = [path.with_name(f"{path.name}.{number}") for number in range(_FILES)]
    with ExitStack() as stack:
        files = [stack.enter_context(pq.ParquetWriter(each, reader.schema)) for each in paths]
        for batch in reader:
            numbers = batch.column(0).to_numpy() // size
            for number in np.unique(numbers):
                files[number].write_batch(batch.filter(pa.array(numbers == number)))
    return paths


def tables(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query as columns, without holding them all."""
    cursor = connection.cursor()
    reader = _aside(cursor, lambda: cursor.sql(sql).to_arrow_reader(1 << 16))
    yield from reader


def scalar(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Return the single number that a query returns."""
    cursor = connection.cursor()
    row = _aside(cursor, lambda: cursor.execute(sql).fetchone())
    return int(row[0]) if row else 0


def copy(connection: duckdb.DuckDBPyConnection, sql: str, path: Path, order: str) -> None:
    """Write the rows of a query, ordered by columns, into a file that appears when complete."""
    new = path.with_name(f".{path.name}")
    execute(
        connection,
        f"COPY (SELECT * FROM ({sql}) ORDER BY {order}) TO {target(new)} "
        "(FORMAT parquet, COMPRESSION zstd)",
    )
    new.rename(path)


def literal(path: Path) -> str:
    """Return a path as an SQL string that matches this file alone; pattern letters are escaped."""
    return "'" + re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''") + "'"


def target(path: Path) -> str:
    """Return the path of an output file as an SQL string; DuckDB reads no patterns there."""
    return "'" + str(path).replace("'", "''") + "'"


def _aside(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Return what `work`, which runs a query, returns; Ctrl-C interrupts it.

    The thread that calls DuckDB waits for its others, and hears no signal meanwhile.
    """
    if connection.execute("SELECT current_setting('threads')").fetchall() == [(1,)]:
        return work()
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return result.result()
    except KeyboardInterrupt:
        # Nothing can stop the query (a busy connection refuses `interrupt`), and Python cannot end
        # in order while it runs. What it writes counts only once it is complete.
        atexit.register(_leave, result)
        raise


def _leave(result: Future[Any]) -> None:
    if not result.done():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
