"""A synthetic collection with the statistics that cost a search engine its time.

Rank and frequency of the words follow Zipf's law in Mandelbrot's form, f(r) ~ 1 / (r + q)^s with
q = 2.7 (Mandelbrot 1953; Piantadosi 2014, eq. 2) and s = 1.13, less the 30 most frequent words,
which are stop words. Lengths are log-normal. Words clump in two ways that real ones do: a document
is about a topic with words of its own, and a word that was used is used again (Church & Gale 1995,
"Poisson mixtures"). Topics come and go, so the statistics at a cutoff differ from those of the
whole. Mean length, and the share of words that repeat (a third), are those of 29,168 real titles
with abstracts after stop words and stemming; `python -m benchmarks retrieval` reports them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 500_000
QUERY_TERMS = 8
_EXPONENT, _SHIFT, _STOP_WORDS = 1.13, 2.7, 30
_MEAN_LENGTH, _SIGMA = 154.0, 0.36
_TOPICS, _TOPIC_WORDS, _TOPIC_SHARE = 500, 400, 0.35
_REPEAT, _REACH = 0.26, 60
_LIFETIME = 0.2  # standard deviation of a topic's popularity, as a share of the whole time
_BLOCK = 20_000


class TextBlock(NamedTuple):
    """Consecutive documents.

    Attributes:
        tokens: uint32, all words one after the other.
        lengths: int64, words of each document, at least 5.
    """

    tokens: NDArray[np.uint32]
    lengths: NDArray[np.int64]


def word(number: int) -> str:
    """Return the word of a number; an English analyzer leaves it as it is.

    >>> word(17)
    't17'
    """
    return f"t{number}"


def blocks(documents: int, seed: int) -> Iterator[TextBlock]:
    """Yield the documents in order, some at a time; memory does not grow with `documents`."""
    rng = np.random.default_rng([seed, 1])
    topics = _zipf(rng.random((_TOPICS, _TOPIC_WORDS)), 1000 * _STOP_WORDS)
    peaks = rng.random(_TOPICS)
    size = min(_BLOCK, math.ceil(documents / 50))  # topics change between blocks
    for start in range(0, documents, size):
        count = min(size, documents - start)
        popular = np.exp(-0.5 * (((start + count / 2) / documents - peaks) / _LIFETIME) ** 2)
        about = rng.choice(_TOPICS, count, p=popular / popular.sum())
        mean = math.log(_MEAN_LENGTH) - _SIGMA**2 / 2
        lengths = np.maximum(np.rint(rng.lognormal(mean, _SIGMA, count)), 5).astype(np.int64)
        yield TextBlock(_tokens(rng, about, lengths, topics), lengths)


def _tokens(
    rng: np.random.Generator,
    about: NDArray[np.int64],
    lengths: NDArray[np.int64],
    topics: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    total = int(lengths.sum())
    owner = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    tokens = _zipf(rng.random(total), VOCABULARY)
    kind = rng.random(total, np.float32)
    topical = np.flatnonzero(kind < _TOPIC_SHARE)
    # Within a topic the words are again Zipf's: the rank is log-uniform.
    rank = (_TOPIC_WORDS ** rng.random(len(topical), np.float32)).astype(np.int32) - 1
    tokens[topical] = topics[about[owner[topical]], rank]
    again = np.flatnonzero(kind > 1 - _REPEAT)
    source = again - rng.integers(1, _REACH, len(again))
    inside = (source >= 0) & (owner[source] == owner[again])
    tokens[again[inside]] = tokens[source[inside]]
    return tokens


def _zipf(uniform: NDArray[np.float64], most: int) -> NDArray[np.uint32]:
    """Return word numbers below `most`: the inverse of the continuous form of the law."""
    power = 1 - _EXPONENT
    first = (_STOP_WORDS + _SHIFT) ** power
    last = (most + _STOP_WORDS + _SHIFT) ** power
    rank = (first + uniform * (last - first)) ** (1 / power) - (_STOP_WORDS + _SHIFT)
    numbers: NDArray[np.uint32] = np.minimum(rank, most - 1).astype(np.uint32)
    return numbers
