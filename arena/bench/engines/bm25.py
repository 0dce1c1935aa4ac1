"""The project's own BM25."""

from __future__ import annotations

from arena.bench.engines._native import NativeEngine
from arena.bench.engines.base import ENGINES, Convention


@ENGINES.register("bm25")
class Bm25(NativeEngine):
    """The project's BM25, with the statistics of the cutoff."""

    retriever = "bm25"
    convention = Convention(statistics="cutoff")
    tolerance = 1e-9  # float64, but the order of the sum is its own
    breaks_ties = True
