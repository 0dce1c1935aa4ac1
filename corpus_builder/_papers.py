"""Write the papers in document order, with the look-up tables that every step needs."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from arena import layout
from arena._arrays import save_array
from arena._progress import progress
from arena._store import hash_id
from arena._strings import StringTableWriter
from corpus_builder._order import count, rows
from corpus_builder._parquet import RowWriter

_EPOCH = dt.date(1970, 1, 1)

PAPERS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("abstract", pa.string()),
        ("date", pa.date32()),
        ("date_precision", pa.string()),
        ("is_survey", pa.bool_()),
        ("searchable", pa.bool_()),
        ("venue", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("fields", pa.list_(pa.string())),
    ]
)
SECTIONS = pa.schema(
    [
        ("document", pa.int32()),
        ("position", pa.int32()),
        ("heading", pa.string()),
        ("text", pa.string()),
    ]
)
_SQL = """
SELECT d.document, p.id, title, abstract, p.day, precision, survey, searchable, venue, authors,
       fields, sections
FROM documents d JOIN staged_papers p USING (id) ORDER BY d.document
"""


def write_papers(connection: duckdb.DuckDBPyConnection, output: Path) -> str:
    """Write papers.parquet, sections.parquet and the look-up tables; return the content hash.

    The texts of a survey are not written: nobody may read them, and its title and date are all
    that a card needs.
    """
    n = count(connection, "SELECT count(*) FROM documents")
    days = np.full(n, layout.UNDATED, np.int32)
    searchable_before = np.zeros(n + 1, np.int64)
    hashes = np.zeros(n, np.uint64)
    section_starts = np.zeros(n + 1, np.int64)
    digest = hashlib.sha256()
    with (
        RowWriter(output / layout.PAPERS, PAPERS) as papers,
        RowWriter(output / layout.SECTIONS, SECTIONS) as sections,
        StringTableWriter(output / layout.IDS) as ids,
        StringTableWriter(output / layout.TITLES) as titles,
    ):
        for row in progress(rows(connection, _SQL), total=n, desc="papers", unit="paper"):
            (document, id_, title, abstract, day, precision, survey, searchable, venue, authors,
             fields, texts) = row  # fmt: skip
            if survey:
                abstract, texts = "", []
            date = None if day is None else _EPOCH + dt.timedelta(days=day)
            papers.add(
                (id_, title, abstract, date, precision, survey, searchable, venue, authors, fields)
            )
            for position, section in enumerate(texts):
                sections.add((document, position, section["heading"], section["text"]))
            ids.add(id_.encode())
            titles.add(title.encode())
            if day is not None:
                days[document] = day
            searchable_before[document + 1] = searchable_before[document] + searchable
            section_starts[document + 1] = section_starts[document] + len(texts)
            hashes[document] = hash_id(id_)
            digest.update(_canonical([*row[1:3], abstract, *row[4:11], texts]))
    order = np.argsort(hashes, kind="stable")
    tables: dict[str, np.ndarray] = {
        layout.DAYS: days,
        layout.SEARCHABLE_BEFORE: searchable_before,
        layout.SECTION_STARTS: section_starts,
        layout.ID_HASHES: hashes[order],
        layout.ID_DOCUMENTS: order.astype(np.uint32),
    }
    for name, table in tables.items():
        save_array(output / name, table)
    return digest.hexdigest()


def _canonical(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
