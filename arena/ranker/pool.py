"""The papers that an episode has shown, and what a ranker knows of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arena.papers import Hit
from arena.text import analyze

Numbers = NDArray[np.float64]

FEATURES = (
    "score", "rank", "words", "best_words", "age", "age_of_best", "vote", "citing", "cited",
    "citing_votes", "cited_votes", "citing_shares", "cited_shares", "references", "received",
    "reference_votes", "citation_votes",
)  # fmt: skip
"""Numbers of a paper, in the order of the columns of `Pool.features`. Papers *looked at* are those
whose references and citations were listed; a *vote* is a paper's score by rules, in [0, 1].

- ``score``: of the search, 1 for the best hit and 0 for the last and for papers that are no hit.
- ``rank``: place among the hits, from 0; 1000 for papers that are no hit.
- ``words``: cosine of the TF-IDF of the title's words and the topic's, within the pool.
- ``best_words``: the largest such cosine with a title of the ten best papers, times its vote.
- ``age``: years from the paper to the cutoff; ``age_of_best``: less the median of the ten best.
- ``vote``: see `Pool.votes`.
- ``citing``, ``cited``: papers looked at that cite it, and that it cites; ``..._votes``: the sum of
  their votes; ``..._shares``: the same, each divided by a tenth of its list's length if above 1.
- ``references``, ``received``: of a paper looked at the number of references and of citations a
  year, else -1; ``reference_votes``, ``citation_votes``: the sums of these papers' votes, else 0.
"""

_NO_HIT = 1000
_BEST = 10
_TRUST, _LINKING, _SHARE, _TURNS = 2.0, 0.4, 10, 3


class Scorer(Protocol):
    """A scorer of papers by their numbers, such as a `Ranker`."""

    def scores(self, features: Numbers) -> Numbers:
        """Return the score of each paper."""
        ...


class Pool:
    """The papers that an episode has shown, in order of discovery.

    Args:
        topic: What was asked for.
        cutoff: Day of the episode, ``YYYY-MM-DD``.

    Attributes:
        ids: Papers by number.
        looked: Numbers of the papers looked at, in order.
        linked: Whether any of them has a reference or a citation.
    """

    def __init__(self, topic: str, cutoff: str) -> None:
        self.ids: list[str] = []
        self.looked: list[int] = []
        self.linked = False
        self._topic = frozenset(analyze(topic))
        self._day = date.fromisoformat(cutoff)
        self._number: dict[str, int] = {}
        self._days: list[str] = []
        self._words: list[frozenset[str]] = []
        self._hits: dict[int, tuple[float, int]] = {}
        self._lists: list[tuple[NDArray[np.int64], NDArray[np.int64], int, int]] = []
        self._features: Numbers | None = None  # until something is added

    def hits(self, hits: Sequence[Hit]) -> None:
        """Add the hits of a search for the topic, best first."""
        self._features = None
        span = hits[0].score - hits[-1].score if hits else 0.0
        for rank, hit in enumerate(hits):
            share = (hit.score - hits[-1].score) / span if span else 1.0
            best, first = self._hits.get(number := self._add(hit), (0.0, _NO_HIT))
            self._hits[number] = max(best, share), min(first, rank)

    def papers(self, papers: Sequence[Hit]) -> None:
        """Add papers that no search for the topic has found, without a rank."""
        self._features = None
        for paper in papers:
            self._add(paper)

    def links(
        self,
        paper_id: str,
        references: Sequence[Hit],
        citations: Sequence[Hit],
        total_references: int,
        total_citations: int,
    ) -> None:
        """Add the listed references and citations of a paper of the pool, and their full number."""
        self._features = None
        cites, citing = (
            np.array([self._add(hit) for hit in of], np.int64) for of in (references, citations)
        )
        self.looked.append(self._number[paper_id])
        self._lists.append((cites, citing, total_references, total_citations))
        self.linked = self.linked or bool(references or citations)

    def _add(self, hit: Hit) -> int:
        number = self._number.setdefault(hit.id, len(self.ids))
        if number == len(self.ids):
            self.ids.append(hit.id)
            self._days.append(hit.date)
            self._words.append(frozenset(analyze(hit.title)))
        return number

    def votes(self) -> Numbers:
        """Return each paper's score by rules, divided by the largest: shape (n,), in [0, 1].

        It is the score of the search, and for every list of links that has the paper `_LINKING`
        times the squared vote of the paper whose list it is, computed in turns. The shares of a
        list add up to at most `_SHARE` papers'.
        """
        base = np.zeros(len(self.ids))
        for number, (score, _) in self._hits.items():
            base[number] = score
        votes = base
        for _ in range(_TURNS if self._lists else 0):
            weights = (votes / (votes.max() or 1.0)) ** _TRUST * _LINKING
            votes = base.copy()
            for paper, lists in zip(self.looked, self._lists, strict=True):
                for linked in lists[:2]:
                    votes[linked] += weights[paper] * _share(linked)
        return votes / (votes.max(initial=0.0) or 1.0)

    def features(self) -> Numbers:
        """Return the numbers of every paper: shape (n, len(FEATURES))."""
        if self._features is None:
            self._features = self._computed()
        return self._features

    def _computed(self) -> Numbers:
        votes, found = self.votes(), np.zeros((len(self.ids), len(FEATURES)))
        column = {name: found[:, place] for place, name in enumerate(FEATURES)}
        best = np.argsort(-votes, kind="stable")[:_BEST]
        column["rank"][:] = _NO_HIT
        for number, (score, rank) in self._hits.items():
            found[number, :2] = score, rank
        column["words"][:], similar = self._similar(best)
        similar[best, np.arange(len(best))] = 0.0
        column["best_words"][:] = (similar * votes[best]).max(1, initial=0.0)
        days = [(self._day - date.fromisoformat(day)).days / 365.25 for day in self._days]
        column["age"][:] = days
        column["age_of_best"][:] = column["age"] - (np.median(column["age"][best]) if days else 0.0)
        column["vote"][:] = votes
        column["references"][:] = column["received"][:] = -1.0
        for paper, (references, citations, cites, received) in zip(
            self.looked, self._lists, strict=True
        ):
            for name, linked in (("citing", references), ("cited", citations)):
                column[name][linked] += 1.0
                column[f"{name}_votes"][linked] += votes[paper]
                column[f"{name}_shares"][linked] += votes[paper] * _share(linked)
            column["references"][paper] = cites
            column["received"][paper] = received / max(1.0, column["age"][paper])
            column["reference_votes"][paper] = votes[references].sum()
            column["citation_votes"][paper] = votes[citations].sum()
        return found

    def _similar(self, best: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
        """Return the cosines of the titles with the topic, and with the titles of `best`."""
        count: dict[str, int] = {}
        for words in self._words:
            for word in words:
                count[word] = count.get(word, 0) + 1
        # Cosines need the weights of the words that a title shares, and the lengths of both
        squares = {w: float(np.log((len(self.ids) + 1) / (n + 0.5))) ** 2 for w, n in count.items()}
        rare = float(np.log(len(self.ids) + 1)) ** 2

        def length(words: frozenset[str]) -> float:
            return sum(squares.get(word, rare) for word in sorted(words)) ** 0.5 or 1.0

        lengths = np.array([length(words) for words in self._words])
        others = [self._topic, *(self._words[number] for number in best)]
        shared = np.zeros((len(self.ids), len(others)))
        holders: dict[str, list[int]] = {}
        for place, words in enumerate(others):
            for word in sorted(words):
                holders.setdefault(word, []).append(place)
        for number, words in enumerate(self._words):
            for word in sorted(words & holders.keys()):
                shared[number, holders[word]] += squares[word]
        cosines = shared / lengths[:, None] / np.array([length(words) for words in others])
        return cosines[:, 0], cosines[:, 1:]

    def ranking(self, ranker: Scorer | None = None) -> list[str]:
        """Return the papers, best first by `ranker` or votes; ties in order of discovery."""
        scores = self.votes() if ranker is None else ranker.scores(self.features())
        return [self.ids[number] for number in np.argsort(-scores, kind="stable")]


def _share(linked: NDArray[np.int64]) -> float:
    return min(1.0, _SHARE / max(1, len(linked)))
