"""Encode the papers of a corpus, so that a killed build goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, load_array
from arena._internal.files import TEMPORARY_SUFFIX, sha256_json, write_json
from arena.encoders import Encoder
from arena.errors import DataError, clip
from arena.retrieval.base import IndexInput, Spread
from arena.retrieval.dense._blocks import BLOCKS, Batch, Making, encoded_elsewhere
from arena.retrieval.dense._blocks import encode as _encode
from arena.retrieval.dense._vectors import (
    DOCUMENTS,
    MAX_DIMENSION,
    VECTORS,
    RowWriter,
    has_rows,
)

BATCH_ROWS = 256
"""Papers encoded between two saves. Fixed, because it decides which texts meet in a batch."""

_STATE = "building.json"


class _Digest:
    """Names the texts taken so far, to know them again after a restart."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, document: int, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._hash.update(f"{document} {len(data)} ".encode())
        self._hash.update(data)

    def __str__(self) -> str:
        return self._hash.hexdigest()


def write_vectors(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
    encoder: Encoder,
    identity: dict[str, Any],
    elsewhere: tuple[Spread, Making] | None = None,
) -> int:
    """Write a vector for each searchable paper; return how many are zero, being blank.

    Args:
        source: the papers.
        directory: as a killed build left it, or empty.
        fields: what is encoded.
        progress: see `Retriever.build`.
        encoder: makes the vectors.
        identity: all that the vectors depend on besides the papers; if the directory holds some
            made otherwise, they are made again.
        elsewhere: encode in other processes, to the same bytes.
    """
    for leftover in directory.glob(f".*{TEMPORARY_SUFFIX}"):
        leftover.unlink()
    rows, dimension = int(source.searchable_before[-1]), encoder.dimension
    if isinstance(dimension, bool) or not 1 <= dimension <= MAX_DIMENSION:
        raise DataError(f"the encoder has {clip(dimension)} dimensions, not 1 to {MAX_DIMENSION}.")
    key = sha256_json({**identity, "fields": fields, "rows": rows, "dimension": dimension})
    texts, done, blank, digest = _resume(source, directory, fields, key, dimension)
    vectors = directory / VECTORS
    with RowWriter(vectors, (rows, dimension), done) as writer:
        shown = progress(texts, initial=done) if done else progress(texts)
        batches = _taken(shown, done, blank, digest)
        if elsewhere is None:
            encoded = _encoded(batches, encoder, dimension)
        else:
            spread, made = elsewhere
            encoded = encoded_elsewhere(batches, made, key, directory / BLOCKS, spread)
        for batch, count, found in encoded:
            writer.append(found)
            done, blank = batch.row + count, batch.blank
            state = {"key": key, "rows": done, "blank": blank, "texts": batch.seen}
            write_json(directory / _STATE, state)
    if done != rows:
        raise DataError(f"the corpus announced {rows} papers and gave {done}.")
    searchable = np.flatnonzero(np.diff(source.searchable_before))
    with ArrayWriter(directory / DOCUMENTS, np.uint32) as documents:
        documents.append(searchable)
    load_array(vectors)
    return blank


def finish(directory: Path) -> None:
    """Remove what only an unfinished build needs."""
    (directory / _STATE).unlink(missing_ok=True)
    if (directory / BLOCKS).exists():
        shutil.rmtree(directory / BLOCKS)


def _encoded(
    batches: Iterator[Batch], encoder: Encoder, dimension: int
) -> Iterator[tuple[Batch, int, NDArray[np.float16]]]:
    for batch in batches:
        yield batch, len(batch.texts), _encode(encoder, batch.texts, batch.first, dimension)


def _resume(
    source: IndexInput, directory: Path, fields: tuple[str, ...], key: str, dimension: int
) -> tuple[Iterator[tuple[int, str]], int, int, _Digest]:
    """Return the texts still to do, and the rows, blanks and digest of those done."""
    texts = source.texts(fields)
    try:
        state = json.loads((directory / _STATE).read_bytes())
        done, blank, known = int(state["rows"]), int(state["blank"]), str(state["texts"])
        usable = state["key"] == key and has_rows(directory / VECTORS, done, dimension)
    except (OSError, ValueError, LookupError, TypeError):
        usable = False
    if usable:
        digest = _Digest()
        for document, text in islice(texts, done):
            digest.add(document, text)
        if str(digest) == known:
            return texts, done, blank, digest
        texts = source.texts(fields)
    return texts, 0, 0, _Digest()


def _taken(
    texts: Iterable[tuple[int, str]], row: int, blank: int, digest: _Digest
) -> Iterator[Batch]:
    """Yield the texts from a row on in batches, with what is known of all up to there."""
    iterator = iter(texts)
    while some := list(islice(iterator, BATCH_ROWS)):
        for document, text in some:
            digest.add(document, text)
            blank += not text.strip()
        yield Batch(row, some[0][0], [text for _, text in some], blank, str(digest))
        row += len(some)
