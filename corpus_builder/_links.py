"""Who cites whom among the searchable papers: found shard by shard, written both ways."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter
from arena._internal.progress import progress
from arena.corpus import layout
from corpus_builder._duckdb import count, execute, tables
from corpus_builder._parquet import RowWriter

REFERENCES = pa.schema(
    [("document", pa.int32()), ("cited", pa.int32()), ("influential", pa.bool_())]
)

# A survey's reference list is a gold label and an undated paper is out of reach, so a link counts
# only between two searchable papers. The ids are compared before the joins: comparing documents
# after them makes DuckDB pair every document with every other one first.
LINKS = """
SELECT a.document AS citing, b.document AS cited, bool_or(r.influential) AS influential
FROM staged_references r
JOIN documents a ON a.id = r.citing
JOIN documents b ON b.id = r.cited
WHERE a.searchable AND b.searchable AND r.citing <> r.cited
GROUP BY ALL
"""
DANGLING = """
SELECT count(*) FROM staged_references
WHERE citing IN (SELECT id FROM documents) AND cited NOT IN (SELECT id FROM documents)
"""


def write_links(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, dict[str, int]]:
    """Write references.parquet and both look-up lists; return the content hash and counts."""
    execute(connection, f"CREATE TABLE links AS {LINKS}")
    digest, number = write_sorted_links(connection, output)
    return digest, {"references": number, "dangling_references": count(connection, DANGLING)}


def write_sorted_links(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, int]:
    """Write the table ``links(citing, cited, influential)``; return content hash and number."""
    n = count(connection, "SELECT count(*) FROM documents")
    digest = hashlib.sha256()
    total = count(connection, "SELECT count(*) FROM links")
    with (
        RowWriter(output / layout.REFERENCES, REFERENCES) as table,
        ArrayWriter(output / layout.CITED, np.uint32) as cited,
        _Starts(output / layout.CITED_STARTS, n) as starts,
        progress(total=total, desc="citations", unit="link") as bar,
    ):
        for batch in tables(connection, "SELECT * FROM links ORDER BY citing, cited"):
            table.add_batch(batch)
            one, other, marks = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
            cited.append(other)
            starts.add(one)
            rows = zip(one.tolist(), other.tolist(), marks.tolist(), strict=True)
            digest.update(b"".join(b"%d %d %d\n" % row for row in rows))
            bar.update(batch.num_rows)
    with (
        ArrayWriter(output / layout.CITING, np.uint32) as citing,
        _Starts(output / layout.CITING_STARTS, n) as starts,
    ):
        for batch in tables(connection, "SELECT cited, citing FROM links ORDER BY cited, citing"):
            starts.add(batch.column(0).to_numpy())
            citing.append(batch.column(1).to_numpy())
    return digest.hexdigest(), citing.length


class _Starts:
    """Writes where the rows of each document start, of rows that come in document order."""

    def __init__(self, path: Path, documents: int) -> None:
        self._writer = ArrayWriter(path, np.int64)
        self._documents = documents
        self._next = 0  # the document whose start is to be written next
        self._rows = 0

    def add(self, documents: NDArray[np.int32]) -> None:
        """Take the documents of some rows."""
        if len(documents):
            last = int(documents[-1]) + 1
            places = np.searchsorted(documents, np.arange(self._next, last))
            self._writer.append(self._rows + places)
            self._next = last
        self._rows += len(documents)

    def __enter__(self) -> _Starts:
        self._writer.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            while self._next <= self._documents:  # a piece at a time: there may be many
                piece = min(self._documents + 1 - self._next, 1 << 20)
                self._writer.append(np.full(piece, self._rows, np.int64))
                self._next += piece
        self._writer.__exit__(kind, None, None)
