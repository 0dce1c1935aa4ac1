"""The rankings of several engines, fused into one.

``fusion="rrf"`` is reciprocal rank fusion with a weight for each part, see `fusion.py`.
``fusion="score"`` is a weighted sum of scores, scaled by part and query to [0, 1]::

    score(d) = sum over the parts i that rank d of  w_i * (s_i(d) - low_i) / (high_i - low_i)

where low_i and high_i are the least and the greatest score among the hits of part i; where they
are equal, each hit counts w_i. A part that does not rank d adds nothing in either form. Ranks and
scores are those of the first `depth` hits of a part inside the scope; nothing else counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

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
        fusion: Literal["rrf", "score"] = "rrf",
        k: Annotated[float, Interval(ge=0, le=1e6)] | None = None,
        weights: Sequence[Annotated[float, Interval(gt=0, le=1e6)]] | None = None,
        depth: Annotated[int, Ge(1)] = DEPTH,
    ) -> None:
        """Combine `parts`; with equal weights their order changes nothing.

        Args:
            parts: Engines of one corpus, by name.
            fusion: ``"rrf"`` or ``"score"``, see the module.
            k: The constant of reciprocal rank fusion, in [0, 1e6]; 60 by default.
            weights: Weight of each part, in (0, 1e6]; 1 by default.
            depth: Number of hits that are taken of every part, >= 1; the `k` of a search, if that
                is more.
        """
        if fusion == "score" and k is not None:
            raise DataError(f"k={k:g}: only fusion='rrf' has a k.")
        self.parts = tuple(parts.values())
        self._names = tuple(parts)
        self._fusion, self._depth = fusion, depth
        self._k = K if k is None else k
        self._weights = (1.0,) * len(parts) if weights is None else tuple(weights)
        if len(self._weights) != len(parts):
            raise DataError(
                f"weights={clip(weights)}: give a list of {len(parts)} numbers, one for each of "
                f"{', '.join(parts)}."
            )

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, those of each part under its name."""
        own: dict[str, Any] = {"fusion": self._fusion}
        if self._fusion == "rrf":
            own["k"] = self._k
        own |= {"weights": list(self._weights), "depth": self._depth}
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
            fuse(rankings, list(map(self._shares, rankings, self._weights)), request.k)
            for request, *rankings in zip(requests, *of_parts, strict=True)
        ]

    def _shares(self, ranking: Ranking, weight: float) -> NDArray[np.float64]:
        """Return what each hit of a part adds to the score of its document."""
        scores = ranking.scores.astype(np.float64)
        if self._fusion == "rrf":
            return reciprocal_ranks(len(scores), weight, self._k)
        if not len(scores):
            return scores
        low, high = scores.min(), scores.max()
        scaled = (scores - low) / (high - low) if high > low else np.ones_like(scores)
        return weight * scaled
