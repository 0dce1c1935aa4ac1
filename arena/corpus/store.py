"""The documents of a built corpus by number, whatever their date.

Only the corpus itself uses it: everybody else goes through a `CorpusView`, which knows the date.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from arena._internal.arrays import StringTable, load_array
from arena.corpus import layout
from arena.dates import format_day
from arena.papers import Brief

_CACHED_ROW_GROUPS = 128  # of about a megabyte of text each, for each of two files

KEPT = 1 << 16
"""Papers, of some 300 bytes each, that are kept for each way of writing them."""

T = TypeVar("T")


def hash_id(paper_id: str) -> int:
    """Return the 64-bit hash under which an id is found."""
    data = paper_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class Written(dict[int, T]):
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
        self.ids = StringTable(directory / layout.IDS)
        self.titles = StringTable(directory / layout.TITLES)
        self.days = load_array(directory / layout.DAYS)
        self.searchable_before = load_array(directory / layout.SEARCHABLE_BEFORE)
        self.cited_starts = load_array(directory / layout.CITED_STARTS)
        self.cited = load_array(directory / layout.CITED)
        self.citing_starts = load_array(directory / layout.CITING_STARTS)
        self.citing = load_array(directory / layout.CITING)
        self._hashes = load_array(directory / layout.ID_HASHES)
        self._documents = load_array(directory / layout.ID_DOCUMENTS)
        self._section_starts = load_array(directory / layout.SECTION_STARTS)
        self._written: dict[Callable[[Brief], Any], Written[Any]] = {}
        self._papers = _Rows(directory / layout.PAPERS)
        self._sections = _Rows(directory / layout.SECTIONS)

    def document(self, paper_id: str) -> int | None:
        """Return the document number of an id, or None."""
        key = np.uint64(hash_id(paper_id))
        place = int(np.searchsorted(self._hashes, key))
        while place < len(self._hashes) and self._hashes[place] == key:
            document = int(self._documents[place])
            if self.ids[document] == paper_id:
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

    def written(self, write: Callable[[Brief], T]) -> Written[T]:
        """Return document number -> ``write(brief)``; `write` must return the same every time."""
        written = self._written.get(write)
        return self._written.setdefault(write, Written(self, write)) if written is None else written

    def row(self, document: int) -> dict[str, Any]:
        """Return the row of papers.parquet."""
        return self._papers[document]

    def sections(self, document: int) -> list[dict[str, Any]]:
        """Return the rows of sections.parquet that belong to the document."""
        low, high = (int(start) for start in self._section_starts[document : document + 2])
        return [self._sections[row] for row in range(low, high)]


class _Rows:
    """Single rows of a Parquet file; the row groups read last are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()
        sizes = [
            self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)
        ]
        self._starts = np.cumsum([0, *sizes])

    def _open(self) -> None:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(self._path, memory_map=True)
        self._groups: OrderedDict[int, Any] = OrderedDict()
        self._lock = threading.Lock()  # a ParquetFile is not safe to share between threads
        self._process = os.getpid()

    def __getitem__(self, row: int) -> dict[str, Any]:
        if self._process != os.getpid():  # forked, maybe while a thread held the lock
            self._open()
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        with self._lock:
            table = self._groups.get(group)
            if table is None:
                table = self._file.read_row_group(group, use_threads=False)
                self._groups[group] = table
                if len(self._groups) > _CACHED_ROW_GROUPS:
                    self._groups.popitem(last=False)
            else:
                self._groups.move_to_end(group)
        (values,) = table.slice(row - int(self._starts[group]), 1).to_pylist()
        return values  # type: ignore[no-any-return]
