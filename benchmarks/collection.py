"""A collection to search, on disk: texts in the order of their days, and queries.

The made-up collection has the statistics that cost a search engine its time.
Rank and frequency of the words follow Zipf's law in Mandelbrot's form, f(r) ~ 1 / (r + q)^s with
q = 2.7 (Mandelbrot 1953; Piantadosi 2014, eq. 2) and s = 1.13, less the 30 most frequent words,
which are stop words. Lengths are log-normal. Words clump in two ways that real ones do: a document
is about a topic with words of its own, and a word that was used is used again (Church & Gale 1995,
"Poisson mixtures"). Topics come and go, so the statistics at a cutoff differ from those of the
whole. Mean length, and the share of words that repeat (a third), are those of 29,168 real titles
with abstracts after stop words and stemming.

Vectors are made up, too: unit vectors around 1,000 centres, a function of the text alone.
Encoding a million texts with a model takes hours; a flat search costs the same whatever the vectors
mean.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.dates import parse_date
from arena.kit.arrays import load_array, save_array
from arena.kit.files import write_json

FIELDS = ("text",)  # the fields that native engines index

_TEXTS, _QUERIES, _DAYS = "texts.txt", "queries.json", "days.npy"
_FIRST_DAY, _LAST_DAY = "1990-01-01", "2019-12-31"
_CENTRES, _SPREAD = 1000, 1.0


VOCABULARY = 500_000
QUERY_TERMS = 8
_EXPONENT, _SHIFT, _STOP_WORDS = 1.13, 2.7, 30
_MEAN_LENGTH, _SIGMA = 154.0, 0.36
_TOPICS, _TOPIC_WORDS, _TOPIC_SHARE = 500, 400, 0.35
_REPEAT, _REACH = 0.26, 60
_LIFETIME = 0.2  # standard deviation of a topic's popularity, as a share of the whole time
_BLOCK = 20_000


class DatedTexts:
    """A collection on disk; it serves as the `IndexInput` of native engines."""

    def __init__(self, directory: Path, dimension: int = 384) -> None:
        self.directory, self.dimension = directory, dimension
        self.queries: list[str] = json.loads((directory / _QUERIES).read_bytes())
        self.days: NDArray[np.int32] = load_array(directory / _DAYS)
        self.documents = len(self.days)
        self.searchable_before: NDArray[np.int64] = np.arange(self.documents + 1)

    def texts(self, fields: tuple[str, ...] = FIELDS) -> Iterator[tuple[int, str]]:
        """Yield (document number, text) in order, whatever the fields."""
        with (self.directory / _TEXTS).open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file):
                yield number, line[:-1]

    def end(self, percent: float) -> int:
        """Return how many documents lie before the cutoff that has `percent` of them before it.

        A cutoff is the first moment of a day, so the share is met up to a day's documents.
        """
        if percent >= 100:
            return self.documents
        day = self.days[int(self.documents * percent / 100)]
        return int(np.searchsorted(self.days, day))


def word(number: int) -> str:
    """Return the word of a number; an English analyzer leaves it as it is.

    >>> word(17)
    't17'
    """
    return f"t{number}"


def blocks(documents: int, seed: int) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
    """Yield the words and the lengths of consecutive documents, some at a time."""
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
        yield _tokens(rng, about, lengths, topics), lengths


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


def make_synthetic(directory: Path, documents: int, queries: int, seed: int) -> None:
    """Write a made-up collection: its papers spread evenly over 30 years.

    A query is 8 distinct words of one document (all of them, if it has fewer), drawn evenly.
    """
    rng = np.random.default_rng([seed, 2])
    asked = rng.integers(0, documents, queries).tolist()
    words: dict[int, NDArray[np.uint32]] = dict.fromkeys(asked, np.empty(0, np.uint32))

    def texts() -> Iterator[str]:
        vocabulary = [word(number) for number in range(VOCABULARY)]
        parts = (np.split(tokens, np.cumsum(lengths)[:-1])
                 for tokens, lengths in blocks(documents, seed))  # fmt: skip
        for number, part in enumerate(itertools.chain.from_iterable(parts)):
            if number in words:
                words[number] = part.copy()
            yield " ".join([vocabulary[token] for token in part.tolist()])

    first, last = parse_date(_FIRST_DAY).day, parse_date(_LAST_DAY).day
    _write(directory, texts(), first + np.arange(documents) * (last - first + 1) // documents)
    drawn = []
    for document in asked:
        distinct = np.unique(words[document])
        size = min(QUERY_TERMS, len(distinct))
        drawn.append(" ".join(map(word, rng.choice(distinct, size, replace=False).tolist())))
    write_json(directory / _QUERIES, drawn)


def take_corpus(directory: Path, corpus: Path, documents: int, queries: int, seed: int) -> None:
    """Write the first searchable papers of a built corpus, at most so many, title and abstract.

    Queries are titles of its surveys, or, for more than there are, of sampled papers as well.
    """
    import pyarrow.parquet as pq

    from arena.corpus import Corpus, layout
    from arena.tasks import TaskSet

    place = Corpus.open(corpus).directory
    papers = pq.read_table(place / layout.PAPERS, columns=["title", "abstract", "searchable"])
    rows = papers.filter(papers["searchable"]).slice(0, documents).to_pylist()
    days = load_array(place / layout.DAYS)
    days = days[np.diff(load_array(place / layout.SEARCHABLE_BEFORE)) == 1][: len(rows)]
    _write(directory, (f"{row['title']} {row['abstract']}" for row in rows), days)
    titles = [survey.title for survey in TaskSet(place).surveys.values()]
    rng = np.random.default_rng([seed, 3])
    asked = [titles[i] for i in sorted(rng.permutation(len(titles))[:queries].tolist())]
    more = rng.integers(0, len(rows), queries - len(asked)).tolist()
    write_json(directory / _QUERIES, asked + [rows[i]["title"] for i in more])


def _write(directory: Path, texts: Iterable[str], days: NDArray[Any]) -> None:
    """Write texts, with a space for a line break, and their days."""
    directory.mkdir(parents=True)
    with (directory / _TEXTS).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(text.replace("\n", " ") + "\n" for text in texts)
    save_array(directory / _DAYS, days.astype(np.int32))


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
