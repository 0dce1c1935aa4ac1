"""The files of a build: lines that are read, tables and reports that are written."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from arena.errors import DataError, clip
from arena.kit.files import sha256_json, write_json
from arena.kit.terminal import progress

MAX_LINE = 1 << 26
"""Bytes; a longer line is not a record. A paper with its full text takes some hundred kilobytes."""


class Lines:
    r"""The lines of a file; gzip is recognised by the content, not the name.

    Lines may end with ``\r`` alone, as old programs on a Mac write them.
    `number` and `bytes` count what was read so far. `sha256` is that of the file, once all lines
    have been read; `damage` says why they end early, or is None, and `packed` whether it is gzip.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.number = self.bytes = 0
        self.sha256 = ""
        self.damage: str | None = None
        self.packed = False

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (number from 1, line) of every line that is not blank; None for one too long."""
        with self._path.open("rb") as opened:
            raw = _HashingReader(opened)
            source = io.BufferedReader(raw, 1 << 20)
            packed = source.peek(2)[:2] == b"\x1f\x8b"
            lines = cast(io.BufferedReader, gzip.GzipFile(fileobj=source) if packed else source)
            try:
                head = lines.peek(1)
                if b"\r" in head[:-1] and b"\n" not in head:
                    lines = io.BufferedReader(_Newlines(lines))
                while line := lines.readline(MAX_LINE):
                    self.number, self.bytes = self.number + 1, raw.count
                    if len(line) == MAX_LINE and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = lines.readline(MAX_LINE)
                        yield self.number, None
                        continue
                    if self.number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line.strip():
                        yield self.number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = str(error)
            while source.read(1 << 20):  # bytes after the last line count, too
                pass
            self.bytes, self.sha256 = raw.count, raw.sha256.hexdigest()
            if not self.bytes:
                self.damage = "the file is empty"
            self.packed = packed

    def read(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the lines with a bar of progress; DataError unless all of the file is read."""
        size = self._path.stat().st_size
        options: Any = {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
        try:
            with progress(total=size, desc=self._path.name, **options) as bar:
                for number, line in self:
                    if number % 1000 == 0:
                        bar.update(self.bytes - bar.n)
                    yield number, line
        except OSError as error:
            raise DataError(
                f"{str(self._path)!r} cannot be read after line {self.number}: "
                f"{error.strerror or error}. Name a file that can be read."
            ) from None
        if self.damage and self.bytes:
            raise DataError(
                f"{str(self._path)!r} is damaged after line {self.number}: {self.damage}. Get the "
                "file again."
            )


def printable_name(path: Path, what: str) -> str:
    """Return the name of an existing file of `what`."""
    if not path.is_file():
        problem = "is not a regular file" if path.exists() else "does not exist"
        problem = "is a directory" if path.is_dir() else problem
        raise DataError(f"{str(path)!r} {problem}. Name a file of {what}.")
    return os.fsencode(path.name).decode("utf-8", "replace")


class _Newlines(io.RawIOBase):
    r"""Passes bytes on, each ``\r`` as ``\n``."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)


class _HashingReader(io.RawIOBase):
    """Passes bytes on and hashes them, so that the file is read only once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        self.count += len(data)
        return len(data)


_TYPES: dict[str, pa.DataType] = {
    "texts": pa.list_(pa.string()),
    "sections": pa.list_(pa.struct([("heading", pa.string()), ("text", pa.string())])),
}


def schema(columns: str, **types: pa.DataType) -> pa.Schema:
    """Return a schema of columns whose names are text, or have a type behind a colon.

    A type is ``texts``, ``sections``, a name in `types`, or one that Arrow knows.

    >>> schema("id day:int32 authors:texts").field("day").type
    DataType(int32)
    """
    fields = []
    for column in columns.split():
        name, _, kind = column.partition(":")
        known = (types | _TYPES).get(kind)
        fields.append((name, pa.type_for_alias(kind or "string") if known is None else known))
    return pa.schema(fields)


_ROWS = 4096
_CHARACTERS = 1 << 20  # small enough that reading one paper at random stays quick


class RowWriter:
    """Write tuples as rows; a row group ends at so many `rows` or `characters`.

    More rows suit a table that is only read as a whole.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, rows: int = _ROWS, characters: int = _CHARACTERS
    ) -> None:
        import pyarrow.parquet as pq  # --help needs schemas alone

        self._limits = rows, characters
        path.parent.mkdir(parents=True, exist_ok=True)
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False)
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0
        self._tail: list[pa.RecordBatch] = []
        self.count = 0

    def add(self, row: tuple[Any, ...]) -> None:
        """Add one row."""
        self._rows.append(row)
        self._size += _characters(row)
        self.count += 1
        if len(self._rows) >= self._limits[0] or self._size >= self._limits[1]:
            self._flush()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Add rows as columns without texts, in groups as `add` makes them."""
        self.count += batch.num_rows
        waiting = pa.Table.from_batches([*self._tail, batch])
        full = waiting.num_rows - waiting.num_rows % _ROWS
        for start in range(0, full, _ROWS):
            self._write(waiting.slice(start, _ROWS))
        self._tail = waiting.slice(full).to_batches()

    def _write(self, table: pa.Table) -> None:
        self._writer.write_table(pa.Table.from_arrays(table.columns, schema=self._schema))

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self._schema)
        arrays = [
            pa.array(column, type=field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows, self._size = [], 0

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            with suppress(Exception):  # the file is lost anyway; report the first error
                self._writer.close()
            return
        if self._rows:
            self._flush()
        if self._tail:
            self._write(pa.Table.from_batches(self._tail))
        self._writer.close()


def _characters(values: Any) -> int:
    """Return the length of all texts among `values`, at any depth."""
    size = 0
    for value in values:
        kind = type(value)
        if kind is str:
            size += len(value)
        elif kind is list or kind is tuple:
            size += _characters(value)
        elif kind is dict:
            size += _characters(value.values())
    return size


def read_rows(
    path: Path, columns: Sequence[str] | None = None, batch: int = _ROWS
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file, with all or some of its columns, so many at once in memory."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names if columns is None else columns
        for part in file.iter_batches(batch, columns=list(names)):
            # They keep the file's order of columns, not the one asked for.
            yield from zip(*(part.column(name).to_pylist() for name in names), strict=True)


class Belonging:
    """Rows that belong to those of another table, and come in the order of that one."""

    def __init__(self, key: Any, rows: Iterable[Any]) -> None:
        self._key, self._groups = key, groupby(rows, lambda row: row[key])
        self._next = next(self._groups, None)

    def of(self, owner: object) -> list[Any]:
        """Return the rows that belong to `owner`, which comes next."""
        if self._next is None or self._next[0] != owner:
            return []
        found = list(self._next[1])
        self._next = next(self._groups, None)
        return found

    def end(self) -> None:
        """Raise DataError if rows are left, which belong to nothing or come in another order."""
        if self._next is not None:
            raise DataError(
                f"rows whose {self._key} is {clip(self._next[0])} belong to nothing, or stand in "
                "another order than what they belong to. Export the data set again."
            )


def write_report(path: Path, key: Any, report: Any) -> None:
    """Write what a piece of work has done."""
    write_json(path, {"key": sha256_json(key), "report": report})


def read_report(path: Path, key: Any) -> Any:
    """Return the report that was written for `key`; None if it is missing, outdated or damaged.

    On None the caller redoes the work.
    """
    with suppress(OSError, ValueError, LookupError, TypeError):
        entry = json.loads(path.read_bytes())
        if entry["key"] == sha256_json(key):
            return entry["report"]
    return None
