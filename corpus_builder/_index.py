"""Build an index over a corpus that is otherwise complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from arena import layout
from arena._arrays import load_array
from arena._files import sha256_file, write_json
from arena._progress import progress
from arena.errors import DataError, did_you_mean
from arena.retrieval import RETRIEVERS

FIELDS = ("title", "abstract", "fulltext")


def check_fields(fields: tuple[str, ...]) -> None:
    """Refuse unknown, repeated or no fields.

    Raises:
        DataError: naming the field and the known ones.
    """
    for field in fields:
        if field not in FIELDS:
            raise DataError(f"no field {field!r} to index.{did_you_mean(field, FIELDS)}")
    if not fields or len(set(fields)) < len(fields):
        raise DataError(
            f"fields={','.join(fields)!r}: name each of {', '.join(FIELDS)} at most once."
        )


def build_index(corpus: Path, engine: str, fields: tuple[str, ...], content_sha256: str) -> str:
    """Build the index of `engine` inside the corpus directory; return its manifest's sha256."""
    directory = layout.index_directory(corpus, engine)
    directory.mkdir(parents=True)
    papers = PaperTexts(corpus)

    def bar(iterable: Iterable[Any]) -> Iterable[Any]:
        total = int(papers.searchable_before[-1])
        return progress(iterable, total=total, desc=f"index {engine}", unit="paper")  # type: ignore[no-any-return]

    description = RETRIEVERS.get(engine).build(papers, directory, fields, bar)
    write_json(
        directory / layout.MANIFEST,
        {
            "format_version": layout.FORMAT_VERSION,
            "engine": engine,
            "corpus": content_sha256,
            **description,
            "files": list_files(directory),
        },
    )
    return sha256_file(directory / layout.MANIFEST)


def list_files(directory: Path) -> dict[str, dict[str, Any]]:
    """Return name -> {bytes, sha256} for every file below `directory`, indexes apart."""
    return {
        path.relative_to(directory).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": sha256_file(path),
        }
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.relative_to(directory).parts[0] != layout.INDEXES
    }


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
        sections = _rows(self._corpus / layout.SECTIONS, ["heading", "text"])
        for document, (searchable, *values) in enumerate(papers):
            count = int(self._section_starts[document + 1] - self._section_starts[document])
            body = [next(sections) for _ in range(count)]
            if not searchable:
                continue
            parts = dict(zip(columns, values, strict=True))
            parts["fulltext"] = "\n".join(text for section in body for text in section)
            yield document, "\n".join(parts[field] for field in fields)


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=4096, columns=columns):
            # iter_batches keeps the file's order of columns, not the one asked for
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
