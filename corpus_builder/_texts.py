"""The texts of a finished corpus, as an index is built from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from arena._internal.arrays import load_array
from arena.corpus import layout


class PaperTexts:
    """The searchable papers of a corpus directory, as an index is built from them."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus
        self.searchable_before: NDArray[np.int64] = load_array(corpus / layout.SEARCHABLE_BEFORE)
        self._section_starts = load_array(corpus / layout.SECTION_STARTS)

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the fields' texts joined by line breaks)."""
        columns = [field for field in fields if field != "fulltext"]
        papers = _rows(self._corpus / layout.PAPERS, ["searchable", *columns])
        bodies = self._bodies() if "fulltext" in fields else None
        for document, (searchable, *values) in enumerate(papers):
            parts = dict(zip(columns, values, strict=True))
            if bodies is not None:
                parts["fulltext"] = next(bodies)
            if searchable:
                yield document, "\n".join(parts[field] for field in fields)

    def _bodies(self) -> Iterator[str]:
        sections = _rows(self._corpus / layout.SECTIONS, ["heading", "text"])
        for count in np.diff(self._section_starts).tolist():
            body = [next(sections) for _ in range(count)]
            yield "\n".join(text for section in body for text in section)


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=4096, columns=columns):
            # iter_batches keeps the file's order of columns, not the one asked for
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
