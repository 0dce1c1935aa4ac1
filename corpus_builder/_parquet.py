"""Parquet files written row by row, with row groups that depend on the rows alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_ROWS = 4096
_BYTES = 1 << 20  # small enough that reading one paper at random stays quick


class RowWriter:
    """Write tuples as rows; a row group ends at a fixed number of rows or characters."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False)
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0
        self.count = 0

    def add(self, row: tuple[Any, ...], size: int = 0) -> None:
        """Add one row; `size` is the number of characters of its long texts."""
        self._rows.append(row)
        self._size += size
        self.count += 1
        if len(self._rows) >= _ROWS or self._size >= _BYTES:
            self._flush()

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
        if kind is None and self._rows:
            self._flush()
        self._writer.close()
