"""What the searches say of each paper: a list of shares for every query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.agents import Hit

Scores = NDArray[np.float64]

TOPIC = ""
"""The source of a list that no paper stands for: the topic itself, or a sub-topic."""

_TURNS = 3
_DIGITS = 9  # what lies below may hang on the order of additions in a library


@dataclass(frozen=True, slots=True)
class _Vote:
    source: str
    weight: float
    papers: NDArray[np.int64]
    shares: Scores


class Votes:
    """Papers by number, in order of discovery, and what every query says of them.

    Attributes:
        ids: of all papers found, in order of discovery.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._number: dict[str, int] = {}
        self._votes: list[_Vote] = []

    def search(self, hits: Sequence[Hit], weight: float = 1.0, source: str = TOPIC) -> None:
        """Count the hits of one query.

        A hit's share is its score, scaled to 1 for the best hit and 0 for the last. Where the
        paper that the query was made of comes first, the next one is the best, since a paper is
        always much nearer to itself.

        Args:
            hits: best first.
            weight: of the list, if no paper stands for it; else that paper's, see `scores`.
            source: the id of the paper that the query was made of.
        """
        if not hits:
            return
        best = hits[1 if len(hits) > 1 and hits[0].id == source else 0].score
        span = best - hits[-1].score
        scaled = [min((hit.score - hits[-1].score) / span, 1.0) if span else 1.0 for hit in hits]
        self._add([hit.id for hit in hits], scaled, weight, source)

    def links(self, papers: Sequence[str], weight: float, source: str) -> None:
        """Count the papers that one cites, or that cite it: each has the same share.

        The shares of a list add up to no more than 10, so that a paper which cites everything
        says less of each.
        """
        if papers:
            self._add(papers, [min(1.0, 10 / len(papers))] * len(papers), weight, source)

    def scores(self, trust: float, judged: Mapping[str, float]) -> Scores:
        """Return the sum of shares of every paper found, by number.

        A list made of a paper weighs as much as that paper itself is worth, its score to the
        power `trust`; scores and weights are found in turns. The mean weight of those papers is 1.

        Args:
            trust: >= 0; with 0 all weigh the same.
            judged: paper -> factor of its weight, 1 where it is missing.
        """
        sources = list(dict.fromkeys(vote.source for vote in self._votes if vote.source))
        factors = np.array([judged.get(source, 1.0) for source in sources])
        numbers = [self._number[source] for source in sources]
        weights = _mean_one(factors)
        scores = self._sum(dict(zip(sources, weights.tolist(), strict=True)))
        for _ in range(_TURNS if trust and sources else 0):
            weights = _mean_one(factors * (scores[numbers] / (scores.max() or 1.0)) ** trust)
            scores = self._sum(dict(zip(sources, weights.tolist(), strict=True)))
        return scores

    def _sum(self, weights: Mapping[str, float]) -> Scores:
        total = np.zeros(len(self.ids))
        for vote in self._votes:
            total[vote.papers] += vote.weight * weights.get(vote.source, 1.0) * vote.shares
        return total

    def _add(
        self, papers: Iterable[str], shares: Sequence[float], weight: float, source: str
    ) -> None:
        share = dict(zip(papers, shares, strict=True))
        for paper_id in [*share, *([source] if source else [])]:
            if paper_id not in self._number:
                self._number[paper_id] = len(self.ids)
                self.ids.append(paper_id)
        numbers = np.array([self._number[paper_id] for paper_id in share], np.int64)
        self._votes.append(_Vote(source, weight, numbers, np.array(list(share.values()))))


def best_first(scores: Scores) -> list[int]:
    """Return places, the highest score first; equals, to nine digits, in order."""
    return np.argsort(-np.round(scores, _DIGITS), kind="stable").tolist()  # type: ignore[no-any-return]


def _mean_one(weights: Scores) -> Scores:
    total = weights.sum() if len(weights) else 0.0
    return weights * (len(weights) / total) if total > 0 else weights
