"""The tables that the records of a release become, shard by shard."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

_WHERE = [("file", pa.string()), ("line", pa.int64())]

TABLES = {
    "papers": pa.schema(
        [
            ("id", pa.string()),
            ("title", pa.string()),
            ("title_key", pa.string()),  # records.title_key
            ("day", pa.int32()),  # resolved; null if undated
            ("precision", pa.string()),
            ("is_survey", pa.bool_()),  # the release itself says so
            ("n_references", pa.int32()),  # as the release counts them; null if it does not
            ("venue", pa.string()),
            ("authors", pa.list_(pa.string())),
            ("fields", pa.list_(pa.string())),
            *_WHERE,
        ]
    ),
    "abstracts": pa.schema([("id", pa.string()), ("abstract", pa.string()), *_WHERE]),
    "texts": pa.schema(
        [
            ("id", pa.string()),
            ("abstract", pa.string()),  # null if the full text has none
            ("sections", pa.list_(pa.struct([("heading", pa.string()), ("text", pa.string())]))),
            ("n_references", pa.int32()),  # entries of the bibliography, matched or not
            *_WHERE,
        ]
    ),
    "citations": pa.schema(
        [("citing", pa.string()), ("cited", pa.string()), ("influential", pa.bool_())]
    ),
    # Entries of bibliographies that were matched to a paper.
    "bibliography": pa.schema(
        [("citing", pa.string()), ("cited", pa.string()), ("mentions", pa.int32())]
    ),
}
"""Table -> columns. ``file`` and ``line`` are filled in by the reader and not part of a row."""


class Sink:
    """Takes the rows and the flaws of one record."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, tuple[Any, ...]]] = []
        self.flaws: list[tuple[str, str]] = []
        self.skipped: list[str] = []

    def add(self, table: str, row: tuple[Any, ...]) -> None:
        """Add a row of a table of `TABLES`, without its place."""
        self.rows.append((table, row))

    def flaw(self, reason: str, detail: str = "") -> None:
        """Note that a part of the record was left out; the rest counts.

        Args:
            reason: one of few, in words, for counting.
            detail: the offending value, clipped.
        """
        self.flaws.append((reason, detail))

    def skip(self, reason: str) -> None:
        """Note that the record, or a part of it, is in order but none that a corpus has a use for.

        It is counted, and neither listed nor held against the release.

        Args:
            reason: one of few, in words, for counting.
        """
        self.skipped.append(reason)

    def clear(self) -> None:
        """Make room for the next record."""
        self.rows.clear()
        self.flaws.clear()
        self.skipped.clear()
