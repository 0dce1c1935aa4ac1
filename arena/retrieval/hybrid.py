"""The rankings of several engines, fused into one by their ranks, see `fusion.py`.

Ranks are those of the first `depth` hits of a part inside the scope; nothing else counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from arena.errors import DataError, clip
from arena.retrieval.base import Combiner, Ranking, Request, Retriever, retriever
from arena.retrieval.fusion import DEPTH, K, fuse, reciprocal_ranks


@retriever("hybrid")
class Hybrid(Combiner):
    """Fuses the rankings of other engines, named as in hybrid(bm25,dense)."""

    def __init__(
        self,
        parts: Mapping[str, Retriever],
        *,
        k: Annotated[float, Interval(ge=0, le=1e6)] = K,
        weights: Sequence[Annotated[float, Interval(gt=0, le=1e6)]] | None = None,
        depth: Annotated[int, Ge(1)] = DEPTH,
    ) -> None:
        """Combine `parts`; with equal weights their order changes nothing.

        Args:
            parts: Engines of one corpus, by name.
            k: The constant of reciprocal rank fusion, in [0, 1e6].
            weights: Weight of each part, in (0, 1e6]; 1 by default.
            depth: Number of hits that are taken of every part, >= 1; the `k` of a search, if that
                is more.
        """
        self.parts = tuple(parts.values())
        self._names = tuple(parts)
        self._k, self._depth = k, depth
        self._weights = (1.0,) * len(parts) if weights is None else tuple(weights)
        if len(self._weights) != len(parts):
            raise DataError(
                f"weights={clip(weights)}: give a list of {len(parts)} numbers, one for each of "
                f"{', '.join(parts)}."
            )

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, those of each part under its name."""
        own: dict[str, Any] = {"k": self._k, "weights": list(self._weights), "depth": self._depth}
        return own | {name: part.config for name, part in zip(self._names, self.parts, strict=True)}

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return the `k` best of the parts' hits in each scope; each part searches once, for all.

        Cost: that of the parts' searches, and a sort of at most `depth` hits of each.
        """
        deeper = [
            request._replace(k=max(request.k, self._depth) if request.k > 0 else 0)
            for request in requests
        ]
        of_parts = [part.search_batch(deeper) for part in self.parts]
        return [
            fuse(rankings, self._shares(rankings), request.k)
            for request, *rankings in zip(requests, *of_parts, strict=True)
        ]

    def _shares(self, rankings: Sequence[Ranking]) -> list[NDArray[np.float64]]:
        """Return what each hit of each part adds to the score of its document."""
        sizes = (len(ranking.documents) for ranking in rankings)
        return list(map(reciprocal_ranks, sizes, self._weights, repeat(self._k)))
