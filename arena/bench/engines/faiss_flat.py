"""FAISS, flat: every vector before the cutoff is compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arena.bench._collection import Collection
from arena.bench._vectors import DIMENSION, load_vectors, query_vectors
from arena.bench.engines.base import ENGINES, Engine
from arena.retrieval.base import Ranking

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
