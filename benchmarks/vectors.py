"""Made-up vectors: unit vectors around 1,000 centres, a function of the text alone.

Encoding a million texts with a model takes hours on a laptop; a flat search costs the same
whatever the vectors mean.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, load_array
from benchmarks.collection import Collection

DIMENSION = 384
_CENTRES, _SPREAD = 1000, 1.0
_ROWS = 2048
VECTORS = "vectors.npy"


def vectors_of(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors, float32 of shape (texts, 384).

    A hash of the text chooses the centre and seeds the noise (SplitMix64 of Steele, Lea & Flood
    2014, four 16-bit uniforms added up: nearly normal).
    """
    vectors = np.empty((len(texts), DIMENSION), np.float32)
    centres = _centres()
    steps = np.arange(1, DIMENSION + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for low in range(0, len(texts), _ROWS):
        hashes = np.array([_hash(text) for text in texts[low : low + _ROWS]], np.uint64)
        bits = hashes[:, None] + steps
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
        uniform = bits.view(np.uint16).reshape(len(hashes), DIMENSION, 4)
        noise = uniform.sum(axis=2, dtype=np.float32) / np.float32(65536 / 3**0.5) - 2 * 3**0.5
        rows = centres[(hashes % np.uint64(_CENTRES)).astype(np.intp)] + _SPREAD * noise
        vectors[low : low + _ROWS] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return vectors


@cache
def _centres() -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((_CENTRES, DIMENSION), np.float32)


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def write_vectors(collection: Collection) -> None:
    """Write the vectors of the documents as float16, for the oracle and for foreign engines."""
    texts = (text for _, text in collection.texts())
    with ArrayWriter(collection.directory / VECTORS, np.float16) as writer:
        while some := list(itertools.islice(texts, _ROWS)):
            writer.append(half(vectors_of(some)).reshape(-1))


def half(vectors: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return the rows scaled to length 1 in float64, rounded to float16."""
    exact = vectors.astype(np.float64)
    rows: NDArray[np.float16] = (exact / np.linalg.norm(exact, axis=1, keepdims=True)).astype(
        np.float16
    )
    return rows


def load_vectors(collection: Collection) -> NDArray[np.float16]:
    """Return the vectors of the documents, memory-mapped, of shape (documents, 384)."""
    vectors: NDArray[np.float16] = load_array(collection.directory / VECTORS).reshape(-1, DIMENSION)
    return vectors


def query_vectors(queries: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of queries, made as those of documents are, in full precision.

    Each is made once: what is measured is the search, not the encoder.
    """
    return np.stack([_query_vector(query) for query in queries])


@cache
def _query_vector(query: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = vectors_of([query])[0]
    return vector
