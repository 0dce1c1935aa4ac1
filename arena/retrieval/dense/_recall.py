"""Build inverted lists and measure how much of the exact ranking they find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.retrieval.dense._flat import FlatSearch, Wanted
from arena.retrieval.dense._ivf import PROBES, IVFSearch, build
from arena.retrieval.dense._vectors import load_vectors

_QUERIES = 100
_DEPTH = 100
_SHARES = (10, 50, 100)


def build_lists(
    directory: Path, dimension: int, lists: int, training: int, progress: Callable[..., Any]
) -> dict[str, float | None]:
    """Write the lists of the vectors in `directory`; return their recall."""
    vectors, _ = load_vectors(directory, dimension)
    build(vectors, directory, lists, training, progress)
    flat = FlatSearch(vectors)
    ivf = IVFSearch(directory, flat, vectors.shape, training, PROBES)
    return measure(vectors, flat, ivf, progress)


def measure(
    vectors: NDArray[np.float16], flat: FlatSearch, ivf: IVFSearch, progress: Callable[..., Any]
) -> dict[str, float | None]:
    """Return recall@100 by the share of all rows searched; None where search is flat anyway.

    The queries are 100 rows spread evenly over all, the same ones for each share. A row counts
    as found if its score reaches that of the exact hundredth, so that equal rows stand for each
    other.
    """
    rows = len(vectors)
    queries = vectors[np.linspace(0, rows - 1, min(_QUERIES, rows)).astype(np.int64)]
    queries = queries[queries.any(axis=1)]
    none = np.empty(0, np.int64)
    found: dict[str, float | None] = {}
    for share in progress(_SHARES, total=len(_SHARES), desc="recall of the lists", unit="share"):
        end = rows * share // 100
        wanted = [Wanted(query, min(_DEPTH, end), end, none) for query in queries]
        if not wanted or not end or not ivf.serves(wanted[0]):
            found[f"{share}%"] = None
            continue
        hits: list[Any] = [
            np.count_nonzero(ivf.search(one).scores >= exact.scores[-1]) / one.k
            for one, exact in zip(wanted, flat.search(wanted), strict=True)
        ]
        found[f"{share}%"] = round(float(np.mean(hits)), 4)
    return found
