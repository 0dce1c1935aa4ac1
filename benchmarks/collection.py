"""A collection to search, on disk: texts by date, queries, and what the oracle knows of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, load_array, save_array
from arena._internal.files import write_json
from arena.dates import parse_date
from arena.errors import DataError
from benchmarks import synthetic as _synthetic

TEXTS, ABOUT = "texts.txt", "collection.json"
FIELDS = ("text",)  # the fields that native engines index


class Query(NamedTuple):
    """A query as text and as the numbers of its terms, repeats kept, unknown terms left out."""

    text: str
    terms: tuple[int, ...]


class Collection:
    """A collection that `write` wrote; it serves as the `IndexInput` of native engines."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.about: dict[str, Any] = json.loads((directory / ABOUT).read_bytes())
        self.documents = int(self.about["documents"])
        self.queries = [Query(q["text"], tuple(q["terms"])) for q in self.about["queries"]]
        self.days: NDArray[np.int32] = load_array(directory / "days.npy")
        self.lengths: NDArray[np.uint32] = load_array(directory / "lengths.npy")
        self.searchable_before: NDArray[np.int64] = np.arange(self.documents + 1)

    def texts(self, fields: tuple[str, ...] = FIELDS) -> Iterator[tuple[int, str]]:
        """Yield (document number, text) in order, whatever the fields."""
        with (self.directory / TEXTS).open(encoding="utf-8", newline="\n") as file:
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

    def postings(self, term: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the documents, ascending, and the frequencies of a term of a query."""
        row = self._rows[term]
        low, high = self._starts[row], self._starts[row + 1]
        return self._docs[low:high], self._tfs[low:high]

    def mean_postings(self, end: int) -> float:
        """Return the postings before `end` of a query's distinct terms, mean over the queries."""
        before = {
            term: int(np.searchsorted(docs, np.uint32(end)))
            for term in self._rows
            for docs in [self.postings(term)[0]]
        }
        return float(np.mean([sum(before[t] for t in set(q.terms)) for q in self.queries]))

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {term: row for row, term in enumerate(_query_terms(self.queries).tolist())}

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return load_array(self.directory / "postings_starts.npy")

    @cached_property
    def _docs(self) -> NDArray[np.uint32]:
        return load_array(self.directory / "postings_docs.npy")

    @cached_property
    def _tfs(self) -> NDArray[np.uint32]:
        return load_array(self.directory / "postings_tfs.npy")


class Part(NamedTuple):
    """Consecutive documents on their way into a collection.

    Attributes:
        texts: one a document; a line break in one is written as a space.
        tokens: the numbers of their terms, one document after the other.
        lengths: int64, terms of each document.
    """

    texts: Iterable[str]
    tokens: NDArray[Any]
    lengths: NDArray[np.int64]


def write(
    directory: Path,
    parts: Iterable[Part],
    days: NDArray[np.int32],
    queries: Sequence[Query],
    about: dict[str, Any],
) -> None:
    """Write a collection; memory is that of a part and of the queries' postings."""
    directory.mkdir(parents=True)
    wanted = _query_terms(queries)
    columns: tuple[list[NDArray[np.uint32]], ...] = ([], [], [])
    start = postings = tokens = 0
    with (
        (directory / TEXTS).open("w", encoding="utf-8", newline="\n") as file,
        ArrayWriter(directory / "lengths.npy", np.uint32) as lengths,
    ):
        for part in parts:
            file.writelines(text.replace("\n", " ") + "\n" for text in part.texts)
            lengths.append(part.lengths)
            owner = np.repeat(np.arange(start, start + len(part.lengths)), part.lengths)
            keys, tfs = np.unique((part.tokens.astype(np.int64) << 32) | owner, return_counts=True)
            terms = keys >> 32
            place = np.minimum(np.searchsorted(wanted, terms), max(len(wanted) - 1, 0))
            kept = wanted[place] == terms if len(wanted) else np.zeros(len(terms), bool)
            for column, values in zip(columns, (place, keys & 0xFFFFFFFF, tfs), strict=True):
                column.append(values[kept].astype(np.uint32))
            start, postings = start + len(part.lengths), postings + len(keys)
            tokens += len(part.tokens)
    rows, docs, counts = (np.concatenate([np.empty(0, np.uint32), *c]) for c in columns)
    order = np.argsort(rows, kind="stable")  # the parts came in document order
    save_array(directory / "postings_docs.npy", docs[order])
    save_array(directory / "postings_tfs.npy", counts[order])
    sizes = np.bincount(rows, minlength=len(wanted))
    save_array(directory / "postings_starts.npy", np.concatenate([[0], np.cumsum(sizes)]))
    save_array(directory / "days.npy", days.astype(np.int32))
    write_json(
        directory / ABOUT,
        {
            **about,
            "documents": start,
            "tokens": tokens,
            "postings": postings,
            "queries": [query._asdict() for query in queries],
        },
    )


def _query_terms(queries: Sequence[Query]) -> NDArray[np.int64]:
    terms = set(itertools.chain.from_iterable(query.terms for query in queries))
    return np.array(sorted(terms), np.int64)


_FIRST_DAY, _LAST_DAY = "1990-01-01", "2019-12-31"
_PART = 10_000  # papers of a corpus at a time


def synthetic(directory: Path, documents: int, queries: int, seed: int) -> None:
    """Write a synthetic collection: its papers spread evenly over 30 years.

    A query is 8 distinct words of one document (all of them, if it has fewer), drawn evenly.
    """
    rng = np.random.default_rng([seed, 2])
    asked = rng.integers(0, documents, queries)
    words: dict[int, NDArray[np.uint32]] = {}
    start = 0
    for tokens, lengths in _synthetic.blocks(documents, seed):
        ends = np.cumsum(lengths)
        for document in asked[(asked >= start) & (asked < start + len(lengths))].tolist():
            end = ends[document - start]
            words[document] = tokens[end - lengths[document - start] : end].copy()
        start += len(lengths)
    drawn = []
    for document in asked.tolist():
        distinct = np.unique(words[document])
        size = min(_synthetic.QUERY_TERMS, len(distinct))
        drawn.append(rng.choice(distinct, size, replace=False).tolist())
    first, last = parse_date(_FIRST_DAY).day, parse_date(_LAST_DAY).day
    write(
        directory,
        _synthetic_parts(documents, seed),
        (first + np.arange(documents) * (last - first + 1) // documents).astype(np.int32),
        [Query(" ".join(map(_synthetic.word, terms)), tuple(terms)) for terms in drawn],
        {"source": "synthetic", "seed": seed},
    )


def _synthetic_parts(documents: int, seed: int) -> Iterator[Part]:
    vocabulary = [_synthetic.word(number) for number in range(_synthetic.VOCABULARY)]
    for tokens, lengths in _synthetic.blocks(documents, seed):
        ends = np.cumsum(lengths).tolist()
        words = [vocabulary[token] for token in tokens.tolist()]
        texts = (" ".join(words[low:high]) for low, high in itertools.pairwise([0, *ends]))
        yield Part(texts, tokens, lengths)


def searchable(corpus: Path) -> int:
    """Return how many papers of a built corpus can be searched."""
    from arena.corpus import Corpus

    return int(Corpus.open(corpus).manifest["counts"]["searchable"])


def from_corpus(directory: Path, corpus: Path, documents: int, queries: int, seed: int) -> None:
    """Write the first searchable papers of a built corpus, title and abstract.

    Queries are the titles of its surveys, or, for more than there are, of sampled papers as well.

    Raises:
        DataError: if it has fewer than `documents` searchable papers.
    """
    from arena.corpus import Corpus
    from arena.text import analyze

    opened = Corpus.open(corpus)
    total = searchable(corpus)
    if documents > total:
        raise DataError(f"--docs {documents}: the corpus has {total} searchable papers.")
    titles = _titles(opened, documents, queries, seed)
    numbers: dict[str, int] = {}
    asked = {term for title in titles for term in analyze(title)}
    for term in sorted(asked):
        numbers.setdefault(term, len(numbers))
    write(
        directory,
        _corpus_parts(opened.directory, documents, numbers),
        _days(opened.directory)[:documents],
        [Query(title, tuple(numbers[term] for term in analyze(title))) for title in titles],
        {"source": "corpus", "corpus": opened.sha256, "seed": seed},
    )


def _titles(corpus: Any, documents: int, queries: int, seed: int) -> list[str]:
    from arena.tasks import TaskSet

    titles = [survey.title for survey in TaskSet(corpus.directory).surveys.values()]
    rng = np.random.default_rng([seed, 3])
    if len(titles) >= queries:
        return [titles[i] for i in sorted(rng.choice(len(titles), queries, replace=False))]
    wanted = rng.integers(0, documents, queries - len(titles)).tolist()
    papers = dict.fromkeys(wanted, "")
    for number, (title, _) in enumerate(_papers(corpus.directory)):
        if number in papers:
            papers[number] = title
    return titles + [papers[number] for number in wanted]


def _papers(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield (title, abstract) of the searchable papers in order."""
    import pyarrow.parquet as pq

    from arena.corpus import layout

    with pq.ParquetFile(corpus / layout.PAPERS) as file:
        for batch in file.iter_batches(4096, columns=["title", "abstract", "searchable"]):
            for row in batch.to_pylist():
                if row["searchable"]:
                    yield row["title"], row["abstract"]


def _days(corpus: Path) -> NDArray[np.int32]:
    from arena._internal.arrays import load_array
    from arena.corpus import layout

    before = load_array(corpus / layout.SEARCHABLE_BEFORE)
    days: NDArray[np.int32] = load_array(corpus / layout.DAYS)[np.diff(before) == 1]
    return days


def _corpus_parts(corpus: Path, documents: int, numbers: dict[str, int]) -> Iterator[Part]:
    from arena.text import analyze

    papers = itertools.islice(_papers(corpus), documents)
    while rows := list(itertools.islice(papers, _PART)):
        texts = ["\n".join(row) for row in rows]
        terms = [[numbers.setdefault(t, len(numbers)) for t in analyze(text)] for text in texts]
        yield Part(
            texts,
            np.array(list(itertools.chain.from_iterable(terms)), np.int64),
            np.array([len(row) for row in terms], np.int64),
        )
