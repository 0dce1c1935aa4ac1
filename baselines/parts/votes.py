"""Evidence about papers that `scout` has seen: votes of searches, titles, and sub-topics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena._internal.cores import one_thread
from arena.agents import Hit
from arena.text import analyze
from baselines.parts.encoding import encode, whole_characters
from baselines.parts.phrases import Phrase, phrases, stems_of

Scores = NDArray[np.float64]

TOPIC = ""
"""Source of a list that was not searched for with a paper: the topic, or a sub-topic."""

_TURNS = 3
_DIGITS = 9  # later digits may depend on the order of additions in a library


class Votes:
    """Papers by number, in order of discovery, and the share that every list gives them.

    Attributes:
        ids: Ids of all papers, in order of discovery.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._number: dict[str, int] = {}
        self._lists: list[tuple[str, float, NDArray[np.int64], Scores]] = []  # source, weight

    def search(self, hits: Sequence[Hit], weight: float = 1.0, source: str = TOPIC) -> None:
        """Count the hits of one query.

        A hit's share is its score, scaled to 1 for the best hit and 0 for the last. If the paper
        whose text is the query comes first, the next hit is the best, since a paper is always
        much nearer to itself.

        Args:
            hits: Hits, best first.
            weight: Weight of the list; multiplied by that of `source`, see `scores`.
            source: Id of the paper whose text is the query.
        """
        if not hits:
            return
        best = hits[1 if len(hits) > 1 and hits[0].id == source else 0].score
        span = best - hits[-1].score
        scaled = [min((hit.score - hits[-1].score) / span, 1.0) if span else 1.0 for hit in hits]
        self._add([hit.id for hit in hits], scaled, weight, source)

    def links(self, papers: Sequence[str], weight: float, source: str) -> None:
        """Count the references or the citations of `source`: each has the same share.

        The shares of a list add up to at most 10, so that a link of a paper with many links
        counts less.
        """
        if papers:
            self._add(papers, [min(1.0, 10 / len(papers))] * len(papers), weight, source)

    def scores(self, trust: float, judged: Mapping[str, float]) -> Scores:
        """Return the weighted sum of shares of every paper, by number.

        The weight of a list with a source is the score of that paper to the power `trust`; scores
        and weights are computed in turns. The mean weight of sources is 1.

        Args:
            trust: Exponent >= 0; with 0 all sources have the same weight.
            judged: Paper id -> factor of its weight; 1 for others.
        """
        sources = list(dict.fromkeys(source for source, *_ in self._lists if source))
        numbers = [self._number[source] for source in sources]
        factors = weights = np.array([judged.get(source, 1.0) for source in sources])
        scores = np.zeros(0)
        for turn in range(1 + _TURNS * bool(trust and sources)):
            if turn:
                weights = factors * (scores[numbers] / (scores.max() or 1.0)) ** trust
            if weights.sum() > 0:
                weights = weights * (len(weights) / weights.sum())
            of_source = dict(zip(sources, weights.tolist(), strict=True))
            scores = np.zeros(len(self.ids))
            for source, weight, papers, shares in self._lists:
                scores[papers] += weight * of_source.get(source, 1.0) * shares
        return scores

    def _add(
        self, papers: Iterable[str], shares: Sequence[float], weight: float, source: str
    ) -> None:
        share = dict(zip(papers, shares, strict=True))
        for paper_id in [*share, *([source] if source else [])]:
            if paper_id not in self._number:
                self._number[paper_id] = len(self.ids)
                self.ids.append(paper_id)
        numbers = np.array([self._number[paper_id] for paper_id in share], np.int64)
        self._lists.append((source, weight, numbers, np.array(list(share.values()))))


def best_first(scores: Scores) -> list[int]:
    """Return positions, the highest score first; ties to nine digits keep their order."""
    return np.argsort(-np.round(scores, _DIGITS), kind="stable").tolist()  # type: ignore[no-any-return]


PENALTY = 10.0
"""Penalty of the ridge regression: with a larger one the predicted scores differ less."""


@one_thread()
def regressed(scores: Scores, titles: Sequence[str], encoder: str | None) -> Scores:
    """Return each score as predicted from the titles by kernel ridge regression.

    With the kernel K of the titles, rows and columns centred, and centred scores s the
    prediction is ``K (K + PENALTY I)^-1 s`` (Saunders, Gammerman and Vovk, ICML 1998). The
    kernel of two titles is the cosine of their words' TF-IDF vectors, and that of their
    embeddings added to it.

    Args:
        scores: Score of each paper, shape (n,).
        titles: Title of each paper.
        encoder: Name of a registered encoder; None for words alone.

    Returns:
        Array of shape (n,), with a mean of 0.
    """
    kernel = _words(titles)
    if encoder is not None:
        kernel = kernel + _embedded(titles, encoder)
    kernel = kernel - kernel.mean(0) - kernel.mean(1)[:, None] + kernel.mean()
    # By eigenvectors, since LAPACK's LU takes so much of the stack that a process in which Java
    # runs, for the engine lucene, dies of it.
    values, vectors = np.linalg.eigh(kernel)
    shares = vectors.T @ (scores - scores.mean())
    return vectors @ (values / (values + PENALTY) * shares)  # type: ignore[no-any-return]


def standard(values: Scores) -> Scores:
    """Return values with a mean of 0 and a standard deviation of 1; zeros if all are equal."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)


@one_thread()
def similarity(titles: Sequence[str], encoder: str | None) -> Scores:
    """Return the similarity of titles, from 0 to 1, shape (n, n)."""
    return _words(titles) if encoder is None else np.clip(_embedded(titles, encoder), 0.0, 1.0)


def _words(titles: Sequence[str]) -> Scores:
    """Return the cosines of TF-IDF vectors of the titles' stems, of those in at least two."""
    stems = [sorted(set(analyze(title))) for title in titles]
    count = Counter(stem for title in stems for stem in title)
    known = {stem: column for column, stem in enumerate(s for s in count if count[s] > 1)}
    vectors = np.zeros((len(titles), len(known)))
    for row, title in enumerate(stems):
        for stem in known.keys() & title:
            vectors[row, known[stem]] = np.log(len(titles) / count[stem])
    return _cosines(vectors)


def _embedded(titles: Sequence[str], encoder: str) -> Scores:
    return _cosines(encode([whole_characters(title) for title in titles], encoder))


def _cosines(vectors: Scores) -> Scores:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return vectors @ vectors.T


def subtopics(titles: Sequence[str], weights: Sequence[float], topic: str, most: int) -> list[str]:
    """Return phrases of two or three words that name parts of the topic.

    Chosen greedily: the phrase with the largest weight (the sum over the titles that hold it,
    times the root of its number of words) of those that are in at least two titles, at least half
    of which hold no earlier phrase. A phrase of the topic's own words names no part of it.

    Args:
        titles: Titles of the best papers.
        weights: Weight of each title, >= 0.
        topic: Title of the survey.
        most: Most phrases to return.

    Returns:
        Phrases as written in the first title that holds them; equals in order of appearance.
    """
    own = stems_of(topic)
    holding: dict[tuple[str, ...], set[int]] = {}
    surface: dict[tuple[str, ...], Phrase] = {}
    for number, title in enumerate(titles):
        for phrase in phrases(title):
            if len(phrase.stems) > 1 and not own.issuperset(phrase.stems):
                holding.setdefault(phrase.stems, set()).add(number)
                surface.setdefault(phrase.stems, phrase)

    def value(stems: tuple[str, ...]) -> float:
        total = sum(weights[number] for number in sorted(holding[stems]))
        return round(total * math.sqrt(len(stems)), 9)

    chosen: list[str] = []
    covered: set[int] = set()
    for stems in sorted(holding, key=value, reverse=True):
        fresh = len(holding[stems] - covered)
        if len(chosen) < most and len(holding[stems]) > 1 and 2 * fresh >= len(holding[stems]):
            chosen.append(surface[stems].surface)
            covered |= holding[stems]
    return chosen
