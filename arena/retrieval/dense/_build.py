"""Encode the papers of a corpus, so that a killed build goes on where it stopped.

Other processes may encode the batches; the vectors are those of one process, in its order.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, load_array
from arena._internal.files import TEMPORARY_SUFFIX, sha256_json, write_json
from arena.encoders import Encoder, make_encoder
from arena.errors import DataError, clip
from arena.retrieval.base import IndexInput, Spread
from arena.retrieval.dense._vectors import (
    DOCUMENTS,
    MAX_DIMENSION,
    VECTORS,
    VectorWriter,
    has_rows,
    normalised,
)

BATCH_ROWS = 256
"""Papers encoded between two saves. Fixed, because it decides which texts meet in a batch."""

_STATE = "building.json"


class _Digest:
    """Hash of the texts so far, to recognise them after a restart."""

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
        source: Papers of the corpus.
        directory: Directory of the index, empty or as a killed build left it.
        fields: Fields to encode.
        progress: As in `Retriever.build`.
        encoder: Encoder of the papers.
        identity: All that the vectors depend on besides the papers; vectors of another identity
            that the directory holds are made again.
        elsewhere: Runs the encoding in other processes, to the same bytes.
    """
    for leftover in directory.glob(f".*{TEMPORARY_SUFFIX}"):
        leftover.unlink()
    rows, dimension = int(source.searchable_before[-1]), encoder.dimension
    if isinstance(dimension, bool) or not 1 <= dimension <= MAX_DIMENSION:
        raise DataError(f"the encoder has {clip(dimension)} dimensions, not 1 to {MAX_DIMENSION}.")
    key = sha256_json({**identity, "fields": fields, "rows": rows, "dimension": dimension})
    texts, done, blank, digest = _resume(source, directory, fields, key, dimension)
    vectors = directory / VECTORS
    with VectorWriter(vectors, (rows, dimension), done) as writer:
        shown = progress(texts, initial=done) if done else progress(texts)
        batches = _batches(shown, done, blank, digest)
        if elsewhere is None:
            encoded = _encoded(batches, encoder, dimension)
        else:
            spread, made = elsewhere
            encoded = encoded_elsewhere(batches, made, spread)
        for batch, new in encoded:
            writer.append(new)
            done, blank = batch.row + len(new), batch.blank
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


def _encoded(
    batches: Iterator[Batch], encoder: Encoder, dimension: int
) -> Iterator[tuple[Batch, NDArray[np.float16]]]:
    for batch in batches:
        yield batch, encode(encoder, batch.texts, batch.first, dimension)


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


def _batches(
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


class Batch(NamedTuple):
    """Papers that are encoded together.

    Attributes:
        row: Row of the first paper.
        first: Document number of the first paper.
        texts: Texts of all papers, in order.
        blank: Number of blank texts in this batch and all before it.
        seen: Digest of the texts of this batch and all before it.
    """

    row: int
    first: int
    texts: list[str]
    blank: int
    seen: str


class Making(NamedTuple):
    """The encoder, as another process makes it.

    Attributes:
        name: Name under which it is registered.
        options: Its options as JSON text.
        dimension: Dimension of its vectors.
        config: Hash of its `config`.
    """

    name: str
    options: str
    dimension: int
    config: str


def making(name: str, options: dict[str, object], encoder: Encoder) -> Making:
    """Return how another process makes `encoder`."""
    return Making(name, json.dumps(options), encoder.dimension, sha256_json(encoder.config))


class VectorBlock(NamedTuple):
    """A batch to be encoded in any process, with the encoder."""

    batch: Batch
    making: Making


def encode_block(block: VectorBlock) -> tuple[int, NDArray[np.float16]]:
    """Return the row and the vectors of a batch.

    Raises:
        DataError: if the encoder fails, or is another one in this process.
    """
    batch, made = block
    encoder, config = _encoder(made.name, made.options)
    if config != made.config:
        raise DataError(
            f"the encoder {made.name} is not the same in all processes: the model, a package or "
            "the device differs. Install the same on all machines, and pass --option device=cpu "
            "if not all of them have a GPU for it."
        )
    return batch.row, encode(encoder, batch.texts, batch.first, made.dimension)


@lru_cache(1)
def _encoder(name: str, options: str) -> tuple[Encoder, str]:
    encoder = make_encoder(name, json.loads(options))
    return encoder, sha256_json(encoder.config)


def encode(encoder: Encoder, texts: list[str], first: int, dimension: int) -> NDArray[np.float16]:
    """Return the rows of a batch; those of blank texts are zero.

    Args:
        encoder: Encoder of the papers.
        texts: Texts of a batch.
        first: Document number of the first text, for a message.
        dimension: Dimension of a vector.

    Raises:
        DataError: if the encoder does not return one vector a text.
    """
    vectors = np.zeros((len(texts), dimension), np.float32)
    filled = [i for i, text in enumerate(texts) if text.strip()]
    if filled:
        encoded = np.asarray(encoder.documents([texts[i] for i in filled]), np.float32)
        if encoded.shape != (len(filled), dimension):
            raise DataError(
                f"the encoder returned an array of shape {encoded.shape} for {len(filled)} texts, "
                f"not {(len(filled), dimension)}."
            )
        vectors[filled] = encoded
    try:
        return normalised(vectors)
    except DataError as error:
        raise DataError(f"{error} It is of one of {len(texts)} papers from {first} on.") from None


def encoded_elsewhere(
    batches: Iterable[Batch], made: Making, spread: Spread
) -> Iterator[tuple[Batch, NDArray[np.float16]]]:
    """Yield each batch without its texts, and its vectors, in order.

    Vectors that come before their turn wait in memory; a killed build encodes those again.

    Args:
        batches: Batches in order.
        made: How a process makes the encoder.
        spread: Runs the tasks.
    """
    order: deque[Batch] = deque()
    ready: dict[int, NDArray[np.float16]] = {}

    def tasks() -> Iterator[VectorBlock]:
        for batch in batches:
            order.append(batch._replace(texts=[]))
            yield VectorBlock(batch, made)

    for row, vectors in spread(encode_block, tasks()):
        ready[row] = vectors
        while order and order[0].row in ready:
            batch = order.popleft()
            yield batch, ready.pop(batch.row)
