"""The documents of a built corpus by number, whatever their date.

Only the corpus itself uses it, and `TaskSet` for scores: everybody else goes through a
`CorpusView`, which knows the date.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.corpus import layout
from arena.dates import format_day
from arena.kit.arrays import StringTable, damaged, load_array
from arena.papers import Brief

_CACHED_ROW_GROUPS = 128  # of about a megabyte of text each, for each of two files

KEPT = 1 << 16
"""Papers, of some 300 bytes each, that are kept for each way of writing them."""

T = TypeVar("T")


def hash_id(paper_id: str) -> int:
    """Return the 64-bit hash under which an id is found."""
    data = paper_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class PaperCache(dict[int, T]):
    """Document number -> what a function makes of its `Brief`, on demand; kept, up to a limit."""

    def __init__(self, store: CorpusStore, write: Callable[[Brief], T]) -> None:
        super().__init__()
        self._ids, self._titles, self._days = store.ids, store.titles, store.days
        self._write = write

    def __missing__(self, document: int) -> T:
        if len(self) >= KEPT:
            self.clear()
        date = format_day(self._days.item(document))
        brief = Brief(self._ids[document], self._titles[document], date)
        self[document] = result = self._write(brief)
        return result


def as_brief(brief: Brief) -> Brief:
    """Return the paper as it is: the usual way to write one."""
    return brief


class CorpusStore:
    """Memory-mapped access to one corpus directory."""

    def __init__(self, directory: Path) -> None:
        def load(name: str, dtype: Any, size: int | None = None) -> NDArray[Any]:
            return load_array(directory / name, dtype, size=size)

        self.days = load(layout.DAYS, np.int32)
        size = len(self.days)
        self.ids = StringTable(directory / layout.IDS, size)
        self.titles = StringTable(directory / layout.TITLES, size)
        self.searchable_before = load(layout.SEARCHABLE_BEFORE, np.int64, size + 1)
        self.cited_starts = load(layout.CITED_STARTS, np.int64, size + 1)
        self.cited = load(layout.CITED, np.uint32)
        self.citing_starts = load(layout.CITING_STARTS, np.int64, size + 1)
        self.citing = load(layout.CITING, np.uint32)
        self._hashes = load(layout.ID_HASHES, np.uint64, size)
        self._documents = load(layout.ID_DOCUMENTS, np.uint32, size)
        self._section_starts = load(layout.SECTION_STARTS, np.int64, size + 1)
        self._written: dict[Callable[[Brief], Any], PaperCache[Any]] = {}
        self._papers = _Rows(directory / layout.PAPERS)
        self._sections = _Rows(directory / layout.SECTIONS)

    def document(self, paper_id: str) -> int | None:
        """Return the document number of an id, or None."""
        key = np.uint64(hash_id(paper_id))
        place = int(np.searchsorted(self._hashes, key))
        while place < len(self._hashes) and self._hashes[place] == key:
            document = int(self._documents[place])
            if document < len(self.days) and self.ids[document] == paper_id:
                return document
            place += 1
        return None

    def is_searchable(self, document: int) -> bool:
        """Return whether the paper is dated and no survey."""
        before = self.searchable_before
        return bool(before[document + 1] > before[document])

    def end(self, day: int) -> int:
        """Return how many documents are dated before `day`."""
        return int(np.searchsorted(self.days, np.int32(day)))

    def written(self, write: Callable[[Brief], T]) -> PaperCache[T]:
        """Return document number -> ``write(brief)``; `write` must return the same every time."""
        written = self._written.get(write)
        return (
            self._written.setdefault(write, PaperCache(self, write)) if written is None else written
        )

    def row(self, document: int) -> dict[str, Any]:
        """Return the row of papers.parquet."""
        row, day = self._papers[document], self.days.item(document)
        dated = None if day == layout.UNDATED else format_day(day)
        if (row["id"], str(row["date"]) if row["date"] else None) != (self.ids[document], dated):
            raise damaged(self._papers.path, f"row {document} is of another paper")
        return row

    def sections(self, document: int) -> list[dict[str, Any]]:
        """Return the rows of sections.parquet that belong to the document."""
        low, high = self._section_starts[document : document + 2].tolist()
        rows = []
        for place in range(low, high):
            rows.append(self._sections[place])
            if rows[-1]["document"] != document:
                raise damaged(self._sections.path, f"row {place} is of another paper")
        return rows

    def linked(self, document: int, *, citing: bool) -> NDArray[np.uint32]:
        """Return the documents that a document cites, or that cite it, ascending."""
        starts, targets = (
            (self.citing_starts, self.citing) if citing else (self.cited_starts, self.cited)
        )
        low, high = starts[document : document + 2].tolist()
        if not 0 <= low <= high:
            raise damaged(layout.CITING_STARTS if citing else layout.CITED_STARTS, "not in order")
        return targets[low:high]


class _Opened(NamedTuple):
    """A Parquet file as one process has it open."""

    process: int
    starts: NDArray[np.int64]  # row that begins each row group, and one after the last
    columns: Callable[[int], dict[str, Any]]  # of a row group
    lock: threading.Lock  # a ParquetFile is not safe to share between threads


class _Rows:
    """Single rows of a Parquet file; the row groups read last are kept.

    The file is mapped once: a forked process keeps the same file, whatever is in its place. Its
    footer, which grows with the corpus, is read by the first that wants a row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._opened: _Opened | None = None

    def _open(self) -> _Opened:
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = pa.py_buffer(self._map)
        file = self._guarded(lambda: pq.ParquetFile(pa.BufferReader(buffer)))
        groups = range(file.num_row_groups)
        starts = np.cumsum([0, *(file.metadata.row_group(i).num_rows for i in groups)])
        columns = lru_cache(_CACHED_ROW_GROUPS)(partial(self._read, file))
        return _Opened(os.getpid(), starts, columns, threading.Lock())

    def __getitem__(self, row: int) -> dict[str, Any]:
        opened = self._opened
        # Forked, maybe while a thread had the lock. Threads that open at once each use their own.
        if opened is None or opened.process != os.getpid():
            self._opened = opened = self._open()
        if not 0 <= row < opened.starts[-1]:
            raise damaged(self.path, f"it has no row {row}")
        group = int(np.searchsorted(opened.starts, row, side="right")) - 1
        with opened.lock:
            columns = opened.columns(group)
        place = row - int(opened.starts[group])
        # A quarter of the time of `Table.slice(place, 1).to_pylist()`.
        return {name: self._guarded(column[place].as_py) for name, column in columns.items()}

    def _read(self, file: Any, group: int) -> dict[str, Any]:
        table = self._guarded(lambda: file.read_row_group(group, use_threads=False))
        self._guarded(lambda: table.validate(full=True))
        return {name: table.column(name).combine_chunks() for name in table.column_names}

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Return what `call` returns; its errors are those of a damaged file."""
        import pyarrow as pa

        try:
            return call()
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            raise damaged(self.path, " ".join(str(error).split())) from None
