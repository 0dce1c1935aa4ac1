"""Write the papers in document order, with look-up tables."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import orjson

from arena._internal.arrays import ArrayWriter, StringTableWriter
from arena._internal.progress import progress
from arena.corpus import layout
from arena.corpus.store import hash_id
from corpus_builder.database import count, literal, sorted_rows, tables
from corpus_builder.parquet import RowWriter, schema

_EPOCH = dt.date(1970, 1, 1)

PAPERS = schema(
    "id title abstract date:date32 date_precision is_survey:bool searchable:bool venue "
    "authors:texts fields:texts arxiv_id doi"
)
SECTIONS = schema("document:int32 position:int32 heading text")
_ROWS = """
SELECT d.document, p.id, title, p.day, precision, survey, searchable, venue, authors, fields,
       arxiv_id, doi
FROM documents d JOIN staged_papers p USING (id) ORDER BY d.document
"""
# The first abstract in this order counts, and the first text. Nobody may read those of a survey,
# and its title and date are all that a card needs.
_ABSTRACTS = """
SELECT d.document, a.abstract FROM staged_abstracts a JOIN documents d USING (id)
WHERE NOT d.survey ORDER BY d.document, a.rank, a.file, a.line
"""
_TEXTS = """
SELECT d.document, t.sections FROM staged_texts t JOIN documents d USING (id)
WHERE NOT d.survey ORDER BY d.document, t.file, t.line
"""
_STARTS = """
SELECT coalesce(sum(n) OVER (ORDER BY document ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                0)::BIGINT AS start
FROM (SELECT range::INTEGER AS document FROM range({documents} + 1))
LEFT JOIN (SELECT document, count(*) AS n FROM ({rows}) GROUP BY document) USING (document)
ORDER BY document
"""
_HASHES = schema("hash:uint64 document:int32")


def write_papers(
    connection: duckdb.DuckDBPyConnection, output: Path, scratch: Path
) -> tuple[str, int]:
    """Write papers.parquet, sections.parquet and the look-up tables.

    Args:
        connection: Connection with ``documents`` and ``staged_papers``, ``_abstracts``, ``_texts``.
        output: Directory of the corpus.
        scratch: Directory for temporary files.

    Returns:
        The content hash, and the number of sections.
    """
    n = count(connection, "SELECT count(*) FROM documents")
    digest = hashlib.sha256()
    hashes = scratch / "hashes.parquet"
    with (
        RowWriter(output / layout.PAPERS, PAPERS) as papers,
        RowWriter(output / layout.SECTIONS, SECTIONS) as sections,
        StringTableWriter(output / layout.IDS) as ids,
        StringTableWriter(output / layout.TITLES) as titles,
        RowWriter(hashes, _HASHES) as unsorted,
    ):
        bodies = _RowsByDocument(sorted_rows(connection, _TEXTS, scratch / "sorted-texts.parquet"))
        abstracts = _RowsByDocument(
            sorted_rows(connection, _ABSTRACTS, scratch / "sorted-abstracts.parquet")
        )
        rows = sorted_rows(connection, _ROWS, scratch / "sorted-papers.parquet")
        for row in progress(rows, total=n, desc="papers", unit="paper"):
            document, id_, title, day, *rest = row
            abstract, texts = abstracts.of(document, ""), bodies.of(document, [])
            date = None if day is None else _EPOCH + dt.timedelta(days=day)
            papers.add((id_, title, abstract, date, *rest))
            for position, text in enumerate(texts):
                sections.add((document, position, text["heading"], text["text"]))
            ids.add(id_.encode())
            titles.add(title.encode())
            unsorted.add((hash_id(id_), document))
            digest.update(orjson.dumps([id_, title, abstract, *row[3:], texts]) + b"\n")
    _write_lookup(connection, output, hashes, n)
    hashes.unlink()
    return digest.hexdigest(), sections.count


def _write_lookup(
    connection: duckdb.DuckDBPyConnection, output: Path, unsorted: Path, documents: int
) -> None:
    """Write the arrays by document and by hash of the id."""
    with (
        ArrayWriter(output / layout.DAYS, np.int32) as days,
        ArrayWriter(output / layout.SEARCHABLE_BEFORE, np.int64) as searchable_before,
    ):
        before = np.zeros(1, np.int64)
        searchable_before.append(before)
        columns = f"coalesce(day, {layout.UNDATED})::INTEGER, searchable"
        for batch in tables(connection, f"SELECT {columns} FROM documents ORDER BY document"):
            days.append(batch.column(0).to_numpy())
            before = before[-1] + batch.column(1).to_numpy(zero_copy_only=False).cumsum()
            searchable_before.append(before)
    sections = f"SELECT document FROM read_parquet({literal(output / layout.SECTIONS)})"
    write_starts(connection, output / layout.SECTION_STARTS, documents, sections)
    with (
        ArrayWriter(output / layout.ID_HASHES, np.uint64) as hashes,
        ArrayWriter(output / layout.ID_DOCUMENTS, np.uint32) as numbers,
    ):
        table = f"read_parquet({literal(unsorted)})"
        for batch in tables(connection, f"SELECT * FROM {table} ORDER BY hash, document"):
            hashes.append(batch.column(0).to_numpy())
            numbers.append(batch.column(1).to_numpy())


def write_starts(
    connection: duckdb.DuckDBPyConnection, path: Path, documents: int, rows: str
) -> None:
    """Write the first row of each document, and after the last one the number of rows.

    Args:
        connection: Connection to the database.
        path: Path of the array.
        documents: Number of documents.
        rows: Query for the column ``document`` of rows that are kept in document order.
    """
    with ArrayWriter(path, np.int64) as starts:
        for batch in tables(connection, _STARTS.format(documents=documents, rows=rows)):
            starts.append(batch.column(0).to_numpy())


class _RowsByDocument:
    """Rows (document, value) in document order, read one document after the other."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._next: tuple[Any, ...] | None = next(rows, None)

    def of(self, document: int, default: Any) -> Any:
        """Return the first value of a document."""
        value, known = default, False
        while self._next is not None and self._next[0] <= document:
            if self._next[0] == document and not known:
                value, known = self._next[1], True
            self._next = next(self._rows, None)
        return value
