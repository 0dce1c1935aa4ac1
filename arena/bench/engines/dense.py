"""The project's own dense engine, exact, over made-up vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arena.bench._vectors import DIMENSION, query_vectors, vectors_of
from arena.bench.engines._native import NativeEngine
from arena.bench.engines.base import ENGINES
from arena.encoders import ENCODERS

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
