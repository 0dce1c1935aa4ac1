"""Time search engines side by side, the project's own and others; compare what they return."""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.process import cores
from arena.encoders import ENCODERS
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.retrieval.base import RETRIEVERS, Request, Retriever, Scope
from arena.retrieval.hybrid import Hybrid
from arena.text import analyze
from benchmarks.collection import (
    FIELDS,
    DatedTexts,
    make_synthetic,
    query_vectors,
    take_corpus,
    vectors_of,
)
from benchmarks.report import (
    Clock,
    Results,
    check_range,
    in_child,
    numbers,
    peak_memory,
    size_of,
    table,
)

Hits = list[list[int]]
Search = Callable[[Sequence[str], int, int], Hits]


class TimedEngine(NamedTuple):
    """An engine: what writes its index into a directory, and what opens it with some threads."""

    family: str  # lexical, dense or hybrid
    build: Callable[[DatedTexts, Path], Any]
    open: Callable[[DatedTexts, Path, int], Search]
    requires: dict[str, str]  # module -> package of what must be installed

    def missing(self) -> str | None:
        """Return why it cannot run here, or None if it can."""
        absent = [d for name, d in self.requires.items() if importlib.util.find_spec(name) is None]
        if absent:
            return f"{', '.join(absent)} not installed; pip install 'researcharena[dev,lucene]'"
        if "jnius" in self.requires:  # a Java is needed as well
            from arena.retrieval.lucene import requirements

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
        if name == "dense":
            options = {"encoder": "bench-made-up", "dimension": collection.dimension}
            options["ivf"] = opening["search"] == "ivf"
        return kind.build(collection, directory, FIELDS, lambda papers, **_: papers, **options)

    def open_(collection: DatedTexts, directory: Path, threads: int) -> Search:
        return _searching(RETRIEVERS.get(name).open(directory, **opening))

    return TimedEngine("dense" if name == "dense" else "lexical", build, open_, requires)


def _searching(retriever: Retriever) -> Search:
    def search(queries: Sequence[str], k: int, end: int) -> Hits:
        if len(queries) == 1:
            return [retriever.search(queries[0], k, Scope(end)).documents.tolist()]
        requests = [Request(query, k, Scope(end)) for query in queries]
        return [ranking.documents.tolist() for ranking in retriever.search_batch(requests)]

    return search


_FLAT = {"search": "flat", "device": "cpu"}


def _build_hybrid(collection: DatedTexts, directory: Path) -> None:
    for part in ("bm25", "dense"):
        ENGINES[part].build(collection, directory / part)


def _open_hybrid(collection: DatedTexts, directory: Path, threads: int) -> Search:
    opened = {
        part: RETRIEVERS.get(part).open(directory / part, **options)
        for part, options in (("bm25", {}), ("dense", _FLAT))
    }
    return _searching(Hybrid(opened))


def _build_tantivy(collection: DatedTexts, directory: Path) -> None:
    import tantivy

    fields = tantivy.SchemaBuilder().add_unsigned_field("number", fast=True)
    fields = fields.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = fields.build()
    writer = tantivy.Index(schema, str(directory)).writer(_TANTIVY_BYTES, 1)
    for number, text in collection.texts():
        row = {"number": number, "text": " ".join(analyze(text))}
        writer.add_document(tantivy.Document.from_dict(row, schema))
    writer.commit()
    writer.wait_merging_threads()


def _open_tantivy(collection: DatedTexts, directory: Path, threads: int) -> Search:
    import tantivy

    index = tantivy.Index.open(str(directory))
    schema, searcher, query_of = index.schema, index.searcher(), tantivy.Query
    must, should = tantivy.Occur.Must, tantivy.Occur.Should

    def search(queries: Sequence[str], k: int, end: int) -> Hits:
        found = []
        for query in queries:
            terms = [query_of.term_query(schema, "text", term) for term in analyze(query)]
            asked = query_of.boolean_query([(should, term) for term in terms])
            if end < collection.documents:
                of, most = tantivy.FieldType.Unsigned, end - 1
                before = query_of.range_query(schema, "number", of, upper_bound=most)
                before = query_of.const_score_query(before, 0.0)
                asked = query_of.boolean_query([(must, asked), (must, before)])
            places = [place for _, place in searcher.search(asked, k, count=False).hits]
            numbers: list[Any] = searcher.fast_field_values("number", places)
            found.append(numbers)
        return found

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
_TANTIVY_BYTES = 500_000_000
_FILE = "flat.faiss"


def _build_faiss(quantizer: str, collection: DatedTexts, directory: Path) -> None:
    import faiss

    index: Any = faiss.IndexFlatIP(collection.dimension)
    if quantizer:
        kind = getattr(faiss.ScalarQuantizer, quantizer)
        index = faiss.IndexScalarQuantizer(collection.dimension, kind, faiss.METRIC_INNER_PRODUCT)
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
    "tantivy": TimedEngine("lexical", _build_tantivy, _open_tantivy, {"tantivy": "tantivy"}),
    "dense": _native("dense", {}, **_FLAT),
    "dense-ivf": _native("dense", _FAISS, search="ivf", device="cpu"),
    "hybrid": TimedEngine("hybrid", _build_hybrid, _open_hybrid, {}),
    "faiss-flat": TimedEngine("dense", partial(_build_faiss, ""), _open_faiss, _FAISS),
    "faiss-fp16": TimedEngine("dense", partial(_build_faiss, "QT_fp16"), _open_faiss, _FAISS),
}
"""Name -> engine, in the order of the tables."""


def measure(
    *,
    corpus: str | None = None,
    engines: tuple[str, ...] = tuple(ENGINES),
    cutoffs: tuple[str, ...] = ("1", "10", "50", "100"),
    docs: int = 100_000,
    queries: int = 128,
    k: int = 100,
    repeats: int = 5,
    batch: int = 128,
    warm: float = 1.0,
    dimension: int = 384,
) -> Results:
    """Time search engines side by side, each in processes of its own; compare their hits.

    Args:
        corpus (DIR): A built corpus to take the papers from, in place of made-up ones.
        engines (NAMES): Engines; those that are not installed are skipped.
        cutoffs (PERCENTS): Percents of the documents before a cutoff.
        docs: Documents of the collection, or the most that are taken of a corpus.
        queries: Number of queries.
        k: Hits of a search.
        repeats: How often each is timed; medians count.
        batch: Queries in a batch, which may use all cores.
        warm: Seconds to search before the clock starts, at least.
        dimension: Components of the vectors.

    Returns:
        ``documents``, ``skipped`` (engine -> reason) and ``engines``: for each its ``build``
        (``seconds``, ``cpu``, ``memory`` and ``disk`` in bytes), ``open`` in seconds, ``memory``,
        and by cutoff ``single`` and ``batch`` (wall and CPU seconds a query, of each repeat) and
        ``agreement``, the share of the hits of ``bm25`` or ``dense`` that it returns.
    """
    check_range(1, math.inf, docs=docs, queries=queries, k=k, repeats=repeats, batch=batch)
    check_range(1, math.inf, dimension=dimension)
    check_range(0, math.inf, warm=warm)
    percents = numbers("cutoffs", cutoffs, float)
    for percent in percents:
        check_range(1e-9, 100, cutoffs=percent)
    skipped = {name: reason for name in engines if (reason := find_engine(name).missing())}
    measured: dict[str, Any] = {}
    hits: dict[str, dict[str, Hits]] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as name:
        place = Path(name) / "collection"
        if corpus is None:
            make_synthetic(place, docs, queries, 0)
        else:
            take_corpus(place, Path(corpus), docs, queries, 0)
        documents = DatedTexts(place).documents
        if k > documents:
            raise DataError(f"--k {k}: there are {documents} documents.")
        for engine in engines:
            if engine not in skipped:
                timing = Timing(
                    engine, place, dimension, Path(name) / engine, k, repeats, warm, percents
                )
                try:
                    measured[engine], hits[engine] = _measure_engine(timing, batch)
                except ArenaError as error:
                    skipped[engine] = f"failed: {error}"
            say = f"skipped: {skipped[engine]}" if engine in skipped else "done"
            print(f"{engine}: {say}", file=sys.stderr, flush=True)
    if not measured:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        raise DataError(f"no engine can run here. {reasons}.")
    for engine, found in hits.items():
        own = {"lexical": "bm25", "dense": "dense"}.get(find_engine(engine).family, "")
        reference = hits.get(own, {})
        for cutoff, rankings in found.items() if reference else ():
            share = agreement(reference[cutoff], rankings)
            measured[engine]["cutoffs"][cutoff]["agreement"] = share
    return {"documents": documents, "skipped": skipped, "engines": measured}


class Timing(NamedTuple):
    """What the processes of one engine are to do; see `measure`."""

    engine: str
    collection: Path
    dimension: int
    directory: Path
    k: int
    repeats: int
    warm: float
    percents: list[float]


def _measure_engine(timing: Timing, batch: int) -> tuple[dict[str, Any], dict[str, Hits]]:
    """Build, open and time an engine in three processes; return figures, and hits by cutoff."""
    built = in_child(build_index, timing, threads=cores())
    single = in_child(time_engine, timing, 1, 1, threads=1)
    batched = in_child(time_engine, timing, batch, cores(), threads=cores())
    figures = {
        "build": built, "open": single["open"],
        "memory": max(single["memory"], batched["memory"]),
        "cutoffs": {
            cutoff: {"single": times, "batch": batched["times"][cutoff]}
            for cutoff, times in single["times"].items()
        },
    }  # fmt: skip
    return figures, single["hits"]


def agreement(reference: list[list[int]], rankings: list[list[int]]) -> float:
    """Return the share of the reference's hits that stand in the rankings of the same queries.

    >>> agreement([[1, 2], [3, 4]], [[2, 1], [3, 5]])
    0.75
    """
    total = sum(map(len, reference))
    same = sum(len(set(a) & set(b)) for a, b in zip(reference, rankings, strict=True))
    return same / total if total else 1.0


def build_index(timing: Timing) -> dict[str, float]:
    """Build an index; return seconds, CPU seconds, and bytes of memory and disk."""
    timing.directory.mkdir()
    with Clock() as clock:
        find_engine(timing.engine).build(
            DatedTexts(timing.collection, timing.dimension), timing.directory
        )
    disk = size_of(timing.directory)
    return {"seconds": clock.wall, "cpu": clock.cpu, "memory": peak_memory(), "disk": disk}


def time_engine(timing: Timing, size: int, threads: int) -> dict[str, Any]:
    """Open an index and search all queries at every cutoff, `size` at once; return times, hits."""
    collection = DatedTexts(timing.collection, timing.dimension)
    queries = collection.queries
    with Clock() as opening:
        search = find_engine(timing.engine).open(collection, timing.directory, threads)
        search(queries[:1], timing.k, collection.documents)
    ends = {f"{percent:g}": collection.end(percent) for percent in timing.percents}
    batches = [queries[i : i + size] for i in range(0, len(queries), size)]

    def search_all(end: int) -> Hits:
        return [hits for batch in batches for hits in search(batch, timing.k, end)]

    hits = {cutoff: search_all(end) for cutoff, end in ends.items()}
    warmed = 0.0
    while warmed < timing.warm:
        with Clock() as clock:
            for end in ends.values():
                search_all(end)
        warmed += clock.wall
    times: dict[str, dict[str, list[float]]] = {cutoff: {"wall": [], "cpu": []} for cutoff in ends}
    for _ in range(timing.repeats):
        for cutoff, end in ends.items():
            with Clock() as clock:
                search_all(end)
            times[cutoff]["wall"].append(clock.wall / len(queries))
            times[cutoff]["cpu"].append(clock.cpu / len(queries))
    return {"open": opening.wall, "memory": peak_memory(), "times": times, "hits": hits}


def show(results: Results) -> str:
    """Return tables of what `measure` returned."""
    engines, settings = results["engines"], results["settings"]
    cutoffs = list(next(iter(engines.values()))["cutoffs"])
    headers = ["engine", *(f"{cutoff} %" for cutoff in cutoffs)]
    parts = [
        f"{results['documents']:,} documents, {settings['queries']} queries, k = {settings['k']}",
        results["machine"],
    ]

    def by_cutoff(heading: str, value: Callable[[Any, str], Any], mode: str = "") -> None:
        rows = [
            [name, *(value(engine["cutoffs"][cutoff], mode) for cutoff in cutoffs)]
            for name, engine in engines.items()
        ]
        parts.append(table(heading, headers, rows))

    def milliseconds(at: Any, mode: str) -> Any:
        return 1e3 * statistics.median(at[mode]["cpu"])

    def rate(at: Any, mode: str) -> Any:
        return 1 / statistics.median(at[mode]["wall"])

    for mode, text in (("single", "one at a time"), ("batch", f"{settings['batch']} at a time")):
        by_cutoff(f"CPU milliseconds a query, {text}", milliseconds, mode)
        by_cutoff(f"Queries a second, {text}", rate, mode)
    by_cutoff("Share of the hits of bm25 or dense", lambda at, _: at.get("agreement"))
    rows = []
    for name, engine in engines.items():
        built, megabyte = engine["build"], 1e6
        sizes = [built["memory"] / megabyte, built["disk"] / megabyte]
        opened = [engine["open"] * 1e3, engine["memory"] / megabyte]
        rows.append([name, built["seconds"], built["cpu"], *sizes, *opened])
    columns = ("engine", "build s", "CPU s", "build MB", "index MB", "open ms", "search MB")
    parts.append(table("Index", columns, rows))
    parts += [f"{name}: {reason}" for name, reason in results["skipped"].items()]
    return "\n\n".join(parts)
