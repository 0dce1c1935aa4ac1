"""Where a collection comes from: the generator, or a built corpus."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.bench import _synthetic
from arena.bench._collection import Part, Query, write
from arena.dates import parse_date
from arena.errors import DataError

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
