"""Batches of texts encoded in other processes, as the vectors of one process in their order."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.files import atomic_write, sha256_json
from arena.encoders import Encoder, make_encoder
from arena.errors import DataError
from arena.retrieval.base import Spread
from arena.retrieval.dense._vectors import normalised

BLOCKS = "blocks"
"""Directory of the vectors that came before their turn."""

_DIGEST = hashlib.sha256().digest_size


class Batch(NamedTuple):
    """Papers that are encoded together.

    Attributes:
        row: of the first of them.
        first: its document number.
        texts: of all of them, in order.
        blank: how many texts are blank, of this batch and all before it.
        seen: digest of the texts of this batch and all before it.
    """

    row: int
    first: int
    texts: list[str]
    blank: int
    seen: str


class Making(NamedTuple):
    """The encoder, as another process makes it.

    Attributes:
        name: under which it is registered.
        options: as JSON text.
        dimension: of its vectors.
        config: hash of what it says of itself.
    """

    name: str
    options: str
    dimension: int
    config: str


def making(name: str, options: dict[str, object], encoder: Encoder) -> Making:
    """Return how another process makes `encoder`."""
    return Making(name, json.dumps(options), encoder.dimension, sha256_json(encoder.config))


class Block(NamedTuple):
    """A batch to be encoded in any process, with the encoder."""

    batch: Batch
    making: Making


def encode_block(block: Block) -> tuple[int, bytes]:
    """Return the row and the vectors of a batch, float16.

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
    rows = encode(encoder, batch.texts, batch.first, made.dimension)
    return batch.row, np.ascontiguousarray(rows, "<f2").tobytes()


@lru_cache(1)
def _encoder(name: str, options: str) -> tuple[Encoder, str]:
    encoder = make_encoder(name, json.loads(options))
    return encoder, sha256_json(encoder.config)


def encode(encoder: Encoder, texts: list[str], first: int, dimension: int) -> NDArray[np.float16]:
    """Return the rows of a batch; those of blank texts are zero.

    Args:
        encoder: makes the vectors.
        texts: of a batch.
        first: document number of the first, for a message.
        dimension: of a vector.

    Raises:
        DataError: if the encoder returns what is no vector a text.
    """
    vectors = np.zeros((len(texts), dimension), np.float32)
    filled = [i for i, text in enumerate(texts) if text.strip()]
    if filled:
        found = np.asarray(encoder.documents([texts[i] for i in filled]), np.float32)
        if found.shape != (len(filled), dimension):
            raise DataError(
                f"the encoder returned an array of shape {found.shape} for {len(filled)} texts, "
                f"not {(len(filled), dimension)}."
            )
        vectors[filled] = found
    try:
        return normalised(vectors)
    except DataError as error:
        raise DataError(f"{error} It is of one of {len(texts)} papers from {first} on.") from None


def encoded_elsewhere(
    batches: Iterable[Batch], made: Making, key: str, directory: Path, spread: Spread
) -> Iterator[tuple[Batch, int, NDArray[np.float16]]]:
    """Yield each batch without its texts, how many they were, and its vectors; in order.

    Vectors that come before their turn wait in files, and a killed build finds them there; so
    memory holds no more than the batches on their way.

    Args:
        batches: in order.
        made: the encoder.
        key: of the build.
        directory: of the files; it may hold some of a killed build.
        spread: runs the tasks.
    """
    directory.mkdir(exist_ok=True)
    order: deque[tuple[Batch, int]] = deque()
    ready: dict[int, bytes | None] = {}  # None: in its file

    def path(batch: Batch) -> Path:
        return directory / f"{batch.row}-{sha256_json([key, batch.seen])[:16]}"

    def size(texts: int) -> int:
        return texts * made.dimension * 2

    def tasks() -> Iterator[Block]:
        for batch in batches:
            told = batch._replace(texts=[])
            order.append((told, len(batch.texts)))
            if _read(path(told), size(len(batch.texts))) is not None:
                ready[batch.row] = None
            else:
                yield Block(batch, made)

    def in_order() -> Iterator[tuple[Batch, int, NDArray[np.float16]]]:
        while order and order[0][0].row in ready:
            batch, texts = order.popleft()
            data = ready.pop(batch.row)
            if data is None:
                data = _read(path(batch), size(texts))
                if data is None:
                    raise OSError(f"{str(path(batch))!r} was changed while it was in use")
            yield batch, texts, np.frombuffer(data, "<f2").reshape(texts, made.dimension)
            path(batch).unlink(missing_ok=True)

    for row, data in spread(encode_block, tasks()):
        if row == order[0][0].row:
            ready[row] = data
        else:
            batch = next(batch for batch, _ in order if batch.row == row)
            atomic_write(path(batch), hashlib.sha256(data).digest() + data)
            ready[row] = None
        yield from in_order()
    yield from in_order()


def _read(path: Path, size: int) -> bytes | None:
    """Return the vectors in a file; None if there is none, or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, data = data[:_DIGEST], data[_DIGEST:]
    return data if len(data) == size and hashlib.sha256(data).digest() == digest else None
