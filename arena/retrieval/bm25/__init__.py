"""BM25 over posting lists in document order, each cut where the scope ends.

The score of document d for the query terms t (Robertson et al. 1995, in the form that Lucene 8
and later computes)::

    sum over t of  qtf(t) * idf(t) * tf(t, d) / (tf(t, d) + k1 * (1 - b + b * |d| / avgdl))
    idf(t) = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))

With ``statistics="cutoff"`` N, df and avgdl count only the documents of the scope, so that a
score reveals nothing of later papers; with ``"corpus"`` they count every searchable document, as
conventional engines do. The engine ``lucene`` has the same options and statistics.
"""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from arena.kit.arrays import StringTable, damaged, load_array, save_array
from arena.kit.kernels import say_compiling
from arena.kit.options import check_names
from arena.kit.process import cores
from arena.retrieval.base import IndexInput, Ranking, Request, Retriever, Scope, retriever
from arena.text import ANALYZER, analyze

_SCOPES = 1024  # scopes whose statistics are kept
_TERMS = 200_000  # terms whose numbers are kept
_TABLE_BYTES = 64_000_000  # size of a table of values,
_TABLE_ROWS = 4096  # with at most so many rows, where there are few pairs
_THREADS_FROM = 250_000  # documents of a scope; below, threads cost more than they save


class CountedScope(NamedTuple):
    """A scope, and the documents that count for its statistics."""

    first: int  # document that may be a hit,
    end: int  # and one after the last; at most the number of all documents
    excluded: tuple[int, ...]  # documents between them that do not exist, ascending
    horizon: int  # documents below this count for the statistics,
    hidden: tuple[int, ...]  # except these, ascending
    documents: int  # number of the documents that count
    length: int  # number of their terms

    @property
    def average(self) -> float:
        """Average length of the documents that count; 0 for none."""
        return self.length / self.documents if self.documents else 0.0


class LexicalEngine(Retriever):
    """An engine with the options of BM25, and none for its index."""

    def __init__(
        self,
        directory: Path,
        *,
        statistics: Literal["cutoff", "corpus"] = "cutoff",
        k1: Annotated[float, Interval(ge=0, le=1e6)] = 0.9,
        b: Annotated[float, Interval(ge=0, le=1)] = 0.4,
    ) -> None:
        """Open the index in `directory`, memory-mapped.

        Args:
            directory: Directory that `build` wrote into.
            statistics: ``"cutoff"``: the documents of the scope count for the statistics;
                ``"corpus"``: every searchable document does.
            k1: Saturation of the term frequency, in [0, 1e6].
            b: Weight of the document length, in [0, 1].
        """
        self._statistics = statistics
        self._k1, self._b = k1, b
        self._directory = directory
        before = load_array(directory / "documents_before.npy", np.int64)
        lengths = load_array(directory / "length_before.npy", np.int64, size=len(before))
        self._documents_before = before
        # No method of its own, so that an engine goes, with its Java, when nothing refers to it.
        self._counted = lru_cache(_SCOPES)(partial(_count, before, lengths, self._statistics))
        self.load(directory)

    @abstractmethod
    def load(self, directory: Path) -> None:
        """Open what the engine searches."""

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking."""
        return {"statistics": self._statistics, "k1": self._k1, "b": self._b}

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        """Write the index of the searchable papers, as `Retriever.build`; there are no options."""
        check_names(f"index {cls.registered_name()}", options, ())
        directory.mkdir(parents=True, exist_ok=True)
        lengths = np.zeros(len(source.searchable_before) - 1, np.uint32)
        written = cls.write(progress(source.texts(fields)), directory, lengths, progress)
        lengths_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        save_array(directory / "documents_before.npy", source.searchable_before)
        save_array(directory / "length_before.npy", lengths_before)
        return {
            "analyzer": ANALYZER,
            "fields": list(fields),
            "documents": int(source.searchable_before[-1]),
            "tokens": int(lengths_before[-1]),
            **written,
        }

    @classmethod
    @abstractmethod
    def write(
        cls, texts: Any, directory: Path, lengths: NDArray[np.uint32], progress: Callable[..., Any]
    ) -> dict[str, Any]:
        """Write what the engine searches; return its own entries of the manifest.

        `texts` are (document number, text) of each paper in order; `lengths`, shape (documents,),
        receives the number of terms of each document.
        """


def _count(
    before: NDArray[np.int64], lengths: NDArray[np.int64], statistics: str, scope: Scope
) -> CountedScope:
    """Count a scope; `before` and `lengths`: searchable documents before each, and their terms."""
    total = len(before) - 1
    end = min(scope.end, total)
    excluded = tuple(d for d in scope.excluded if d < end)
    horizon, hidden = (end, excluded) if statistics == "cutoff" else (total, ())
    first, last = scope.window or (0, end)
    end = max(first, min(last, end))
    return CountedScope(
        first, end, tuple(d for d in excluded if first <= d < end), horizon, hidden,
        before.item(horizon) - len(hidden),
        lengths.item(horizon) - sum(lengths.item(d + 1) - lengths.item(d) for d in hidden),
    )  # fmt: skip


@retriever("bm25")
class BM25Retriever(LexicalEngine):
    """BM25 with the statistics of the cutoff, exact and deterministic."""

    def load(self, directory: Path) -> None:
        """Open the posting lists."""
        self.documents = len(self._documents_before) - 1
        # It compiles: only where a search is wanted.
        from arena.retrieval.bm25 import _kernel

        say_compiling(_kernel.search)
        self._kernel = _kernel
        self._terms = StringTable(directory / "terms").arrays()
        self._starts = load_array(directory / "starts.npy", np.int64, size=len(self._terms[1]))
        self._docs = load_array(directory / "docs.npy", np.uint32)
        self._codes = load_array(
            directory / "codes.npy", np.uint16, np.uint32, size=len(self._docs)
        )
        self._values = Values(directory, self._k1, self._b, empty=not len(self._docs))
        self._free_sums: list[NDArray[np.float64]] = []  # zeros, between searches
        self._numbers: dict[str, int] = {}

    @classmethod
    def write(cls, *arguments: Any) -> dict[str, Any]:
        """Write the posting lists."""
        from arena.retrieval.bm25 import _build

        return _build.build(*arguments)

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return the `k` best documents of each scope that have a term of the query.

        Large searches run in threads, each with a part of them. Cost of each: the postings of its
        terms before the end of the scope, plus that end itself.
        """
        if not requests:
            return []
        large = max(request.scope.end for request in requests) >= _THREADS_FROM
        threads = min(cores() if large else 1, len(requests))
        count = max(threads, -(-len(requests) // self._values.room))
        parts = [requests[i::count] for i in range(count)]
        if threads == 1:
            found = [self._search(part) for part in parts]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(self._search, parts))
        return [found[i % count][i // count] for i in range(len(requests))]

    def _search(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what `search` returns, for at most as many requests as there are values for."""
        try:
            return self._rank(requests)
        except (ValueError, IndexError) as error:  # of a kernel: files that nobody has checked
            raise damaged(self._directory, str(error)) from None

    def _rank(self, requests: Sequence[Request]) -> list[Ranking]:
        scopes = [self._counted(scope) for _, _, scope in requests]
        words: list[str] = []
        bounds = [0]
        for query, _, _ in requests:
            words += analyze(query)
            bounds.append(len(words))
        if not words:
            return [_NOTHING] * len(requests)
        numbers = np.array(self._find(words))
        for low, high in pairwise(bounds):  # a score does not depend on the order of the words
            numbers[low:high].sort()
        starts, docs = self._starts, self._docs
        terms, begins, frequencies, odds, matches = self._kernel.count(
            numbers,
            np.array(bounds),
            np.array([scope.horizon for scope in scopes]),
            np.array([scope.documents for scope in scopes]),
            *_concatenated([scope.hidden for scope in scopes]),
            starts,
            docs,
        )
        # Not numpy's logarithm, whose last bit depends on the processor.
        weights = frequencies * np.array(list(map(math.log, odds.tolist())))
        sizes = [
            max(0, min(k, scope.end - scope.first, most))
            for (_, k, _), scope, most in zip(requests, scopes, matches.tolist(), strict=True)
        ]
        places = list(accumulate(sizes, initial=0))
        table, rows = self._values.rows([scope.average for scope in scopes])
        try:
            sums = self._free_sums.pop()
        except IndexError:
            sums = np.zeros(self._kernel.BLOCK)
        documents, scores, counts = self._kernel.search(
            terms, weights, begins, table, np.array(rows),
            np.array([scope.first for scope in scopes]),
            np.array([scope.end for scope in scopes]),
            *_concatenated([scope.excluded for scope in scopes]),
            np.array(places), starts, docs, self._codes, sums,
        )  # fmt: skip
        self._free_sums.append(sums)  # not after an error, which may leave it dirty
        return [
            Ranking(documents[low : low + size], scores[low : low + size])
            for low, size in zip(places, counts.tolist(), strict=False)
        ]

    def _find(self, words: list[str]) -> list[int]:
        """Return the number of each term, -1 for an unknown one."""
        known = self._numbers
        numbers = list(map(known.get, words))
        if None not in numbers:
            return numbers  # type: ignore[return-value]
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > _TERMS:  # other threads keep the old ones
            known, new = {}, list(dict.fromkeys(words))
        joined = " ".join(new).encode("utf-8", "surrogatepass")
        found = self._kernel.find(*self._terms, np.frombuffer(joined, np.uint8), len(new))
        known.update(zip(new, found.tolist(), strict=True))
        self._numbers = known
        return [known[word] for word in words]


class Values:
    """tf / (tf + norm) of every pair of frequency and length, one row for each average length.

    A row is written once, before `rows` returns it. When there is no room left, a new table is
    begun; searches that still use the old one keep it.
    """

    def __init__(self, directory: Path, k1: float, b: float, *, empty: bool) -> None:
        tfs = load_array(directory / "pair_tfs.npy", np.uint32)
        lengths = load_array(directory / "pair_lengths.npy", np.uint32, size=len(tfs))
        if not empty and not len(tfs):
            raise damaged(directory / "pair_tfs.npy", "it is empty")
        self._tfs, self._lengths = tfs.astype(np.float64), lengths.astype(np.float64)
        self._k1, self._b = k1, b
        self.room = max(1, min(_TABLE_ROWS, _TABLE_BYTES // max(1, self._tfs.nbytes)))
        self._lock = threading.Lock()
        self._begin()

    def rows(self, averages: Sequence[float]) -> tuple[NDArray[np.float64], list[int]]:
        """Return a table, and the row of each of at most `room` averages."""
        with self._lock:
            missing = dict.fromkeys(a for a in averages if a not in self._known)
            if not missing:
                return self._table, [self._known[average] for average in averages]
            if self._used + len(missing) > self.room:
                self._begin()
                missing = dict.fromkeys(averages)
            table, known = self._table, self._known
            new = dict(zip(missing, range(self._used, self.room), strict=False))
            self._used += len(new)
        for average, row in new.items():
            # An average of 0 comes with no postings to read.
            norms = self._k1 * (1.0 - self._b + self._b * self._lengths / (average or 1.0))
            np.divide(self._tfs, self._tfs + norms, out=table[row])
        with self._lock:
            known.update(new)
        return table, [new[a] if a in new else known[a] for a in averages]

    def _begin(self) -> None:
        # Memory that is not written to takes none.
        self._table = np.empty((self.room, len(self._tfs)))
        self._known: dict[float, int] = {}
        self._used = 0


def _concatenated(parts: list[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all numbers as one array, and where those of each part begin (n + 1)."""
    bounds = np.zeros(len(parts) + 1, np.int64)
    if not any(parts):
        return _NONE, bounds
    np.cumsum([len(part) for part in parts], out=bounds[1:])
    return np.array(list(chain.from_iterable(parts)), np.int64), bounds


_NONE = np.empty(0, np.int64)
_NOTHING = Ranking(_NONE, np.empty(0))
