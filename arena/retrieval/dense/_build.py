"""Encode the papers of a corpus, so that a killed build resumes where it stopped.

Other processes may encode the batches; the vectors are those of one process, in its order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder, make_encoder
from arena.errors import DataError, clip
from arena.kit.arrays import HEADER, ArrayWriter, save_array
from arena.kit.files import read_json, schema_error, sha256_json, write_json
from arena.kit.workdir import clear_temporary
from arena.retrieval.base import IndexInput, ParallelMap
from arena.retrieval.dense._vectors import DOCUMENTS, MAX_DIMENSION, VECTORS, normalised
from arena.text.display import count

BATCH_ROWS = 256
"""Papers encoded between two saves. Fixed, because it decides which texts meet in a batch."""

_STATE = "building.json"


class Batch(NamedTuple):
    """Papers that are encoded together: row and document number of the first, texts of all."""

    row: int
    first: int
    texts: list[str]


def write_vectors(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
    made: EncoderSpec,
    identity: dict[str, Any],
    parallel: ParallelMap | None = None,
) -> int:
    """Write a vector for each searchable paper; return how many are zero, being blank.

    Vectors of a killed build in `directory` are kept if their `identity` is the same: all
    that they depend on besides the papers.
    """
    clear_temporary([directory])
    _encoder.cache_clear()
    rows, dimension = int(source.searchable_before[-1]), made.dimension
    if isinstance(dimension, bool) or not 1 <= dimension <= MAX_DIMENSION:
        raise DataError(f"the encoder has {clip(dimension)} dimensions, not 1 to {MAX_DIMENSION}.")
    key = sha256_json({**identity, "fields": fields, "rows": rows, "dimension": dimension})
    done, blank = _resume(directory, key, dimension)
    texts = islice(source.texts(fields), done, None)
    ready: dict[int, tuple[NDArray[np.float16], int]] = {}
    with ArrayWriter(directory / VECTORS, np.float16, columns=dimension, done=done) as writer:
        shown = progress(texts, initial=done) if done else progress(texts)
        tasks = ((batch, made) for batch in _batches(shown, done))
        for row, encoded, blanks in (parallel or map)(encode_block, tasks):
            ready[row] = encoded, blanks
            # What comes before its turn waits in memory; a killed build encodes it again.
            while done in ready:
                vectors, its_blanks = ready.pop(done)
                writer.append(vectors)
                writer.sync()
                done, blank = done + len(vectors), blank + its_blanks
                write_json(directory / _STATE, {"key": key, "rows": done, "blank": blank})
        if done != rows:
            raise DataError(f"the corpus announced {count(rows, 'paper')} and gave {done}.")
    save_array(directory / DOCUMENTS, np.flatnonzero(np.diff(source.searchable_before)), np.uint32)
    return blank


def finish(directory: Path) -> None:
    """Let go of what only an unfinished build needs."""
    _encoder.cache_clear()
    (directory / _STATE).unlink(missing_ok=True)


def _resume(directory: Path, key: str, dimension: int) -> tuple[int, int]:
    """Return how many rows are done, and how many of them are blank."""
    with suppress(OSError, ValueError):
        state = read_json(directory / _STATE)
        size = (directory / VECTORS).stat().st_size - HEADER
        fits = schema_error(state, {"key": str, "rows": int, "blank": int}) is None
        if fits and state["key"] == key and size >= state["rows"] * dimension * 2:
            return state["rows"], state["blank"]
    return 0, 0


def _batches(texts: Iterable[tuple[int, str]], row: int) -> Iterator[Batch]:
    iterator = iter(texts)
    while some := list(islice(iterator, BATCH_ROWS)):
        yield Batch(row, some[0][0], [text for _, text in some])
        row += len(some)


class EncoderSpec(NamedTuple):
    """The data that a worker makes the encoder of: options as JSON, hash of its config."""

    name: str
    options: str
    dimension: int
    config: str


def encode_block(block: tuple[Batch, EncoderSpec]) -> tuple[int, NDArray[np.float16], int]:
    """Return the row and the vectors of a batch, and how many of its texts are blank."""
    batch, made = block
    encoder, config = _encoder(made.name, made.options)
    if config != made.config:
        raise DataError(
            f"the encoder {made.name} is not the same in all processes: the model, a package or "
            "the device differs. Install the same on all machines, and pass --option device=cpu "
            "if not all of them have a GPU for it."
        )
    blank = sum(not text.strip() for text in batch.texts)
    return batch.row, encode(encoder, batch.texts, batch.first, made.dimension), blank


@lru_cache(1)
def _encoder(name: str, options: str) -> tuple[Encoder, str]:
    encoder = make_encoder(name, json.loads(options))
    return encoder, sha256_json(encoder.config)


def encode(encoder: Encoder, texts: list[str], first: int, dimension: int) -> NDArray[np.float16]:
    """Return the vectors of texts, from document `first` on; those of blank texts are zero."""
    vectors = np.zeros((len(texts), dimension), np.float32)
    filled = [i for i, text in enumerate(texts) if text.strip()]
    if filled:
        encoded = np.asarray(encoder.documents([texts[i] for i in filled]), np.float32)
        if encoded.shape != (len(filled), dimension):
            raise DataError(
                f"the encoder returned an array of shape {encoded.shape} for "
                f"{count(len(filled), 'text')}, "
                f"not {(len(filled), dimension)}."
            )
        vectors[filled] = encoded
    try:
        return normalised(vectors)
    except DataError as error:
        raise DataError(
            f"{error} It is of one of {count(len(texts), 'paper')} from {first} on."
        ) from None
