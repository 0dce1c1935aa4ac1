"""The collection that engines search: the papers of a corpus, with vectors made up.

Vectors are unit vectors around 1,000 centres, a function of the text alone: encoding a million
texts with a model takes hours, and a flat search costs the same whatever the vectors mean.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.corpus import layout
from arena.kit.arrays import load_array
from corpus_builder.index import PaperTexts

FIELDS = ("title", "abstract")

_CENTRES, _SPREAD = 1000, 1.0


class DatedTexts:
    """The searchable papers of a corpus in the order of their days, numbered from 0.

    It serves as the `IndexInput` of native engines.
    """

    def __init__(self, corpus: Path, dimension: int = 384) -> None:
        self._papers, self.dimension = PaperTexts(corpus), dimension
        searchable = np.diff(self._papers.searchable_before) == 1
        self.days: NDArray[np.int32] = load_array(corpus / layout.DAYS)[searchable]
        self.documents = len(self.days)
        self.searchable_before: NDArray[np.int64] = np.arange(self.documents + 1)

    def texts(self, fields: tuple[str, ...] = FIELDS) -> Iterator[tuple[int, str]]:
        """Yield (document number, text) in order."""
        for number, (_, text) in enumerate(self._papers.texts(fields)):
            yield number, text

    def end(self, percent: float) -> int:
        """Return how many documents lie before the cutoff that has `percent` of them before it.

        A cutoff is the first moment of a day, so the share is met up to a day's documents.
        """
        if percent >= 100:
            return self.documents
        day = self.days[int(self.documents * percent / 100)]
        return int(np.searchsorted(self.days, day))


def vectors_of(texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """Return unit vectors, float32 of shape (texts, dimension).

    A hash of the text chooses the centre and seeds the noise.
    """
    vectors = np.empty((len(texts), dimension), np.float32)
    for row, text in enumerate(texts):
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        noise = np.random.default_rng(number).standard_normal(dimension, np.float32)
        vectors[row] = _centres(dimension)[number % _CENTRES] + _SPREAD * noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@cache
def _centres(dimension: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((_CENTRES, dimension), np.float32)


@cache
def _query_vector(query: str, dimension: int) -> NDArray[np.float32]:
    return vectors_of([query], dimension)[0]  # type: ignore[no-any-return]


def query_vectors(queries: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """Return the vectors of queries, each made once: the search is measured, not the encoder."""
    return np.stack([_query_vector(query, dimension) for query in queries])
