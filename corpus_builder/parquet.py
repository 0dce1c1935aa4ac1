"""Parquet files written row by row, with row groups that depend on the rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

_TYPES: dict[str, pa.DataType] = {
    "texts": pa.list_(pa.string()),
    "sections": pa.list_(pa.struct([("heading", pa.string()), ("text", pa.string())])),
}


def schema(columns: str, **types: pa.DataType) -> pa.Schema:
    """Return a schema.

    Args:
        columns: Names of columns. A name is text, or has a type behind a colon: ``texts``,
            ``sections``, a name in `types`, or one that Arrow knows.
        types: Further types by name.

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
    """Write tuples as rows; a row group ends at a fixed number of rows or characters.

    Args:
        path: Path of the file.
        schema: Schema of its columns.
        rows: Most rows of a group; more suit a table that is only read as a whole.
        characters: Most characters of a group.
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
