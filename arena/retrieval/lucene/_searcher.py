"""Searches of one index through Lucene's own scorers."""

from __future__ import annotations

import itertools
import json
import os
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError
from arena.retrieval.lucene import _jvm, _similarity

FIELD = "text"

SEGMENT = "segment"
"""Directory of Lucene's own files."""

REBUILD = "Build it again with `arena-corpus index` and --overwrite."
"""Ends the message about a damaged index."""

_SCOPES, _TERMS = 64, 1024
"""How many scopes keep their terms, and how many terms each."""

_UNSEEN = object()


class Statistics(NamedTuple):
    """What a score may know of the collection.

    Attributes:
        of_scope: Whether document frequencies count the scope alone, not the whole index.
        documents: Number of documents that count.
        length: Number of their terms.
    """

    of_scope: bool
    documents: int
    length: int


class _JavaScope:
    """What all searches of one scope share.

    Attributes:
        searcher: Lucene's searcher, with the similarity of the scope.
        ranges: Ranges [low, high) of Lucene's documents that exist.
        hidden: The other ranges, if it is quicker to count those, or None.
        all_count: Whether document frequencies are those of the whole index.
        terms: Term -> its query, or None if no document that counts has it.
    """

    def __init__(
        self, searcher: Any, documents: int, end: int, excluded: tuple[int, ...], of_scope: bool
    ) -> None:
        self.searcher = searcher
        edges = [-1, *excluded, end]
        self.ranges = [(low + 1, high) for low, high in itertools.pairwise(edges) if low + 1 < high]
        self.hidden = None
        if end > documents // 2:
            self.hidden = [*((d, d + 1) for d in excluded), (end, documents)]
        self.all_count = not of_scope or self.ranges == [(0, documents)]
        self.terms: dict[str, Any] = {}


class LuceneSearcher:
    """The Java objects of an open index; any number of threads may search.

    Methods that need `_jvm.lock` take it themselves.
    """

    def __init__(self, directory: Path, documents: int, k1: float, b: float) -> None:
        java = _jvm.start()
        lucene = java.lucene
        self._Searcher = lucene("search.IndexSearcher")
        self._Similarity = java(_similarity.NAME)
        self._score = self._Similarity.score
        self._Term, self._TermQuery = lucene("index.Term"), lucene("search.TermQuery")
        self._TermStates = lucene("index.TermStates")
        self._Boost = lucene("search.BoostQuery")
        self._Builder = lucene("search.BooleanQuery$Builder")
        self._should = lucene("search.BooleanClause$Occur").SHOULD
        modes = lucene("search.ScoreMode")
        self._count_only, self._best_only = modes.COMPLETE_NO_SCORES, modes.TOP_SCORES
        self._Count = lucene("search.TotalHitCountCollector")
        self._Top = lucene("search.TopScoreDocCollector")
        # One call for all hits: as objects of pyjnius they take ten times as long.
        self._json = java("com.fasterxml.jackson.databind.ObjectMapper")()

        path = java("java.nio.file.Paths").get(str(directory))
        reader = lucene("index.DirectoryReader").open(lucene("store.MMapDirectory")(path))
        self._reader = java.cast("org.apache.lucene.index.IndexReader", reader)
        # At exit the files go with the process, and Java may be gone first.
        weakref.finalize(self, _close, self._reader, os.getpid()).atexit = False
        leaves = reader.leaves()
        segments, held = leaves.size(), reader.maxDoc()
        if (segments, held) != (1, documents):
            raise CorpusError(
                f"{str(directory)!r} holds {held} documents in {segments} segments, not "
                f"{documents} in one. {REBUILD}"
            )
        self._leaf = leaves.get(0)
        self._documents, self._k1, self._b = documents, k1, b
        self._scopes: OrderedDict[tuple[Any, ...], _JavaScope] = OrderedDict()

    def search(
        self,
        terms: Sequence[tuple[str, int]],
        k: int,
        end: int,
        excluded: tuple[int, ...],
        statistics: Statistics,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the `k` best of Lucene's documents below `end` and their scores, best first.

        Args:
            terms: Distinct terms and their frequencies in the query.
            k: Number of documents, at least 1, at most those of the scope.
            end: Documents numbered below this exist,
            excluded: except these, ascending.
            statistics: Statistics of these documents, or of the whole index.
        """
        scope = self._scope(end, excluded, statistics)
        queries = [
            (query, times)
            for term, times in terms
            if (query := self._term(scope, term)) is not None
        ]
        if not queries:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        with _jvm.lock:
            builder = self._Builder()
            for query, times in queries:
                boosted = query if times == 1 else self._Boost(query, float(times))
                builder.add(boosted, self._should)
            whole, collector = builder.build(), self._Top.create(k, 0)
        self._collect(scope, whole, self._best_only, collector, scope.ranges)
        with _jvm.lock:
            text = self._json.writeValueAsString(collector.topDocs())
        hits = json.loads(text)["scoreDocs"]
        return (
            np.array([hit["doc"] for hit in hits], np.int64),
            np.array([hit["score"] for hit in hits], np.float32),
        )

    def _scope(self, end: int, excluded: tuple[int, ...], statistics: Statistics) -> _JavaScope:
        key = (end, excluded, statistics)
        with _jvm.lock:
            scope = self._scopes.get(key)
            if scope is not None:
                self._scopes.move_to_end(key)
                return scope
            similarity = self._Similarity(self._k1, self._b)
            similarity.documents = statistics.documents
            similarity.average = statistics.length / max(statistics.documents, 1)
            searcher = self._Searcher(self._reader)
            searcher.setSimilarity(similarity)
            searcher.setQueryCache(None)
            scope = _JavaScope(searcher, self._documents, end, excluded, statistics.of_scope)
            self._scopes[key] = scope
            if len(self._scopes) > _SCOPES:
                self._scopes.popitem(last=False)
            return scope

    def _term(self, scope: _JavaScope, term: str) -> Any:
        """Return the query for a term with its document frequency; None if it has none."""
        query = scope.terms.get(term, _UNSEEN)
        if query is not _UNSEEN:
            return query
        with _jvm.lock:
            java_term = self._Term(FIELD, term)
            states = self._TermStates.build(scope.searcher, java_term, True)
            frequency = states.docFreq()
            query = self._TermQuery(java_term, states) if frequency else None
        if query is not None and not scope.all_count:
            with _jvm.lock:
                counter = self._Count()
            self._collect(scope, query, self._count_only, counter, scope.hidden or scope.ranges)
            with _jvm.lock:
                counted = counter.getTotalHits()
                frequency = frequency - counted if scope.hidden else counted
                state = states.get(self._leaf)
                states = self._TermStates(scope.searcher.getTopReaderContext())
                states.register(state, 0, frequency, frequency)
                query = self._TermQuery(java_term, states) if frequency else None
        if len(scope.terms) >= _TERMS:
            scope.terms.clear()
        scope.terms[term] = query
        return query

    def _collect(
        self,
        scope: _JavaScope,
        query: Any,
        mode: Any,
        collector: Any,
        ranges: list[tuple[int, int]],
    ) -> None:
        """Run `query` over the documents of `ranges`, and over no other."""
        with _jvm.lock:
            scorer = scope.searcher.createWeight(query, mode, 1.0).bulkScorer(self._leaf)
            leaf_collector = collector.getLeafCollector(self._leaf)
        for low, high in () if scorer is None else ranges:
            self._score(scorer, leaf_collector, low, high)


def _close(reader: Any, process: int) -> None:
    """Give back the files of an index that nobody searches any more."""
    if process == os.getpid():  # in a forked process Java would wait for ever
        _jvm.start()
        with _jvm.lock:
            reader.close()
