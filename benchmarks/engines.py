"""The search engines that are timed: how each builds an index of a collection, and opens it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS
from arena.errors import ArenaError, UnknownNameError, clip, did_you_mean
from arena.retrieval.base import RETRIEVERS, Request, Retriever, Scope
from arena.text import analyze
from benchmarks.collection import FIELDS, DatedTexts, query_vectors, vectors_of

Hits = list[list[int]]
Search = Callable[[Sequence[str], int, int], Hits]


class TimedEngine(NamedTuple):
    """An engine: what writes its index into a directory, and what opens it with some threads."""

    family: str  # lexical or dense
    build: Callable[[DatedTexts, Path], Any]
    open: Callable[[DatedTexts, Path, int], Search]
    requires: dict[str, str]  # module -> package of what must be installed

    def missing(self) -> str | None:
        """Return why it cannot run here, or None if it can."""
        absent = [d for name, d in self.requires.items() if importlib.util.find_spec(name) is None]
        if absent:
            return f"{', '.join(absent)} not installed; pip install 'researcharena[dev,lucene]'"
        if "jnius" in self.requires:  # a Java is needed as well
            from arena_engines.retrievers.lucene import requirements

            try:
                requirements()
            except ArenaError as error:
                return str(error)
        return None


def find_engine(name: str) -> TimedEngine:
    """Return an engine by its name."""
    if name not in ENGINES:
        raise UnknownNameError(f"unknown engine {clip(name)}.{did_you_mean(name, ENGINES)}")
    return ENGINES[name]


@ENCODERS.register("bench-made-up")
class MadeUpVectors:
    """Unit vectors made up from a hash of the text; for timings alone."""

    config = {"vectors": "made up"}  # noqa: RUF012

    def __init__(self, *, dimension: int) -> None:
        self.dimension = dimension
        self.documents = partial(vectors_of, dimension=dimension)
        self.queries = partial(query_vectors, dimension=dimension)


def _native(name: str, requires: dict[str, str], **opening: Any) -> TimedEngine:
    """Return a registered retriever, with the statistics of the cutoff, as an engine."""

    def build(collection: DatedTexts, directory: Path) -> Any:
        kind, options = RETRIEVERS.get(name), dict[str, Any]()
        if name in ("dense", "ivf"):
            options = {"encoder": "bench-made-up", "dimension": collection.dimension}
        return kind.build(collection, directory, FIELDS, lambda papers, **_: papers, **options)

    def open_(collection: DatedTexts, directory: Path, threads: int) -> Search:
        return _searching(RETRIEVERS.get(name).open(directory, **opening))

    return TimedEngine("dense" if name in ("dense", "ivf") else "lexical", build, open_, requires)


def _searching(retriever: Retriever) -> Search:
    def search(queries: Sequence[str], k: int, end: int) -> Hits:
        if len(queries) == 1:
            return [retriever.search(queries[0], k, Scope(end)).documents.tolist()]
        requests = [Request(query, k, Scope(end)) for query in queries]
        return [ranking.documents.tolist() for ranking in retriever.search_batch(requests)]

    return search


def _build_bm25s(collection: DatedTexts, directory: Path) -> None:
    import bm25s
    from bm25s.tokenization import Tokenized

    numbers: dict[str, int] = {}
    documents = [
        [numbers.setdefault(term, len(numbers)) for term in analyze(text)]
        for _, text in collection.texts()
    ]
    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    index.index(Tokenized(documents, numbers), create_empty_token=False, show_progress=False)
    index.save(directory, show_progress=False)


def _open_bm25s(collection: DatedTexts, directory: Path, threads: int) -> Search:
    import bm25s

    index: Any = bm25s.BM25.load(directory, mmap=True, show_progress=False)
    index.activate_numba_scorer()
    masks: dict[int, Any] = {collection.documents: None}

    def search(queries: Sequence[str], k: int, end: int) -> Hits:
        if end not in masks:
            masks[end] = (np.arange(collection.documents) < end).astype(np.float32)
        known = [[t for t in analyze(query) if t in index.vocab_dict] for query in queries]
        documents, scores = index.retrieve(
            known, k=k, n_threads=threads, show_progress=False, weight_mask=masks[end]
        )
        # It fills up with documents that do not match.
        return [row[of > 0].tolist() for row, of in zip(documents, scores, strict=True)]

    return search


_ROWS = 65_536
_FILE = "flat.faiss"


def _build_faiss(collection: DatedTexts, directory: Path) -> None:
    import faiss

    index: Any = faiss.IndexFlatIP(collection.dimension)
    texts = [text for _, text in collection.texts()]
    for low in range(0, len(texts), _ROWS):
        index.add(vectors_of(texts[low : low + _ROWS], collection.dimension))
    faiss.write_index(index, str(directory / _FILE))


def _open_faiss(collection: DatedTexts, directory: Path, threads: int) -> Search:
    import faiss

    index: Any = faiss.read_index(str(directory / _FILE), faiss.IO_FLAG_MMAP_IFC)
    faiss.omp_set_num_threads(threads)

    def search(queries: Sequence[str], k: int, end: int) -> Hits:
        make: Any = faiss.SearchParameters  # its stubs do not know the arguments
        parameters = make(sel=faiss.IDSelectorRange(0, end))
        documents: NDArray[np.int64]
        _, documents = index.search(
            query_vectors(queries, collection.dimension), k, params=parameters
        )
        return [row[row >= 0].tolist() for row in documents]

    return search


_JAVA, _FAISS = {"pyserini": "pyserini", "jnius": "pyjnius"}, {"faiss": "faiss-cpu"}

ENGINES = {
    "bm25": _native("bm25", {}),
    "lucene": _native("lucene", _JAVA),
    "bm25s": TimedEngine("lexical", _build_bm25s, _open_bm25s, {"bm25s": "bm25s"}),
    "dense": _native("dense", {}, device="cpu"),
    "ivf": _native("ivf", _FAISS, device="cpu"),
    "faiss-flat": TimedEngine("dense", _build_faiss, _open_faiss, _FAISS),
}
"""Name -> engine, in the order of the tables."""
