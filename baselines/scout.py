"""Scout: search for papers like the best found so far, and rank by the agreement of searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from arena.agents import Desk, Hit, Researcher, Steps, agent
from arena.kit.process import one_thread
from arena.ranker import explore, open_ranker
from arena.text import analyze
from baselines.clustering import cluster
from baselines.parts.texts import encode, shared_encoder, unit

Scores = NDArray[np.float64]

_POOL = 300  # best papers, whose titles are compared
_UNLINKED = 3  # papers without links, after which no further links are listed
_LINKING = 4.0  # the weight of a list of references or citations, where that of a list of hits is 1


@agent("scout")
class Scout(Researcher):
    """Search every engine for the topic, then for papers like the best, in rounds; no model.

    It searches for the topic, and then for the texts of the best papers, a few in each round. A
    paper's score is the sum of its shares in the lists of hits, corrected by the scores of papers
    with similar titles. If papers have links, the remaining reads list the references and citations
    of the best ones. docs/results/scout.md measures what each part contributes.

    Args:
        seeds: Most papers whose texts are searched for, 0 to 100.
        rounds: Number of rounds, 1 to 100.
        engines: Whether to search with every engine that a search may name, or with the default
            one alone.
        abstracts: Whether to read those papers, and search for title and abstract.
        topic_weight: Weight of the topic's list, 0 to 1000; that of a paper's is 1 on average.
        trust: Exponent of a paper's score in the weight of its list, 0 to 10; with 0 all papers'
            lists have the same weight.
        titles: Weight of the score predicted from similar titles, 0 to 10; that of the score
            itself is 1. With 0 titles are not compared.
        encoder: Name of the encoder of titles; None for their words alone.
        links: Most papers whose references and citations are listed, 0 to 100.
        mapped: Most papers of the ranking in a mind-map, 1 to 1000.
        ranker: File of ``arena train ranker``, or ``learned`` for the one in this package. It
            searches once, follows links in rounds and ranks by the trees; if the first papers
            have no links, it keeps the rules above. None for the rules alone.
    """

    def __init__(
        self,
        seed: int = 0,
        seeds: Annotated[int, Interval(ge=0, le=100)] = 24,
        rounds: Annotated[int, Interval(ge=1, le=100)] = 4,
        engines: bool = True,
        abstracts: bool = True,
        topic_weight: Annotated[float, Interval(ge=0, le=1000)] = 9.0,
        trust: Annotated[float, Interval(ge=0, le=10)] = 2.0,
        titles: Annotated[float, Interval(ge=0, le=10)] = 1.0,
        encoder: str | None = "static",
        links: Annotated[int, Interval(ge=0, le=100)] = 25,
        mapped: Annotated[int, Interval(ge=1, le=1000)] = 100,
        ranker: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(seed, **more)
        self._ranker = None if ranker is None else open_ranker(ranker)
        if encoder is not None:
            shared_encoder(encoder)
        self._seeds, self._rounds = seeds, rounds
        self._engines, self._abstracts = engines, abstracts
        self._topic_weight, self._trust, self._titles = topic_weight, trust, titles
        self._encoder, self._links, self._mapped = encoder, links, mapped
        self._votes = Votes()
        self._used: list[str] = []
        self._linked = False

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for the topic, then for the texts of papers, and rank all papers found."""
        if self._ranker is not None:
            pool = yield from explore(desk, self._ranker)
            if pool.linked:
                self._linked = True
                desk.ranking = pool.ranking(self._ranker)
                return
        yield from self._search(desk, desk.topic, self._topic_weight)
        self._rank(desk)
        for turn in range(self._rounds):
            due = self._seeds * (turn + 1) // self._rounds - len(self._used)
            yield from self._expand(desk, due)
            self._rank(desk)
        if self._linked or not desk.read_count:  # nothing read: links are unknown
            yield from self._follow(desk)
            self._rank(desk)

    def organize(self, desk: Desk) -> Steps[None]:
        """Read abstracts and cluster the starting papers, or the first of the ranking."""
        if not desk.given and not desk.ranking:
            yield from self.discover(desk)
        papers = desk.given or desk.ranking[: self._mapped]
        for paper_id in papers:
            yield from desk.read(paper_id)
        if papers:
            desk.mind_map = cluster([desk.papers[i] for i in papers], desk.topic)

    def notes(self) -> dict[str, Any]:
        """Return the papers whose texts were searched for, and whether the corpus has links."""
        notes = {"seeds": list(self._used), "links": self._linked}
        return notes | ({"ranker_sha256": self._ranker.sha256} if self._ranker else {})

    def _search(self, desk: Desk, text: str, weight: float, source: str = "") -> Steps[None]:
        for engine in desk.retrievers if self._engines and desk.retrievers else (None,):
            hits = yield from desk.search(text, retriever=engine)
            self._votes.search(hits, weight, source)

    def _expand(self, desk: Desk, count: int) -> Steps[None]:
        """Search for the texts of the next `count` papers."""
        waiting = [paper_id for paper_id in desk.ranking if paper_id not in self._used][:count]
        if not desk.searches_left:
            return
        for paper_id in waiting if self._abstracts else ():
            before = desk.read_count
            yield from desk.read(paper_id)
            if desk.read_count > before and desk.result.get("cited_by"):
                self._linked = True
        for paper_id in waiting:
            if desk.searches_left:
                self._used.append(paper_id)
                paper = desk.papers[paper_id]
                text = f"{paper.title}. {paper.abstract}" if paper.abstract else paper.title
                yield from self._search(desk, text, 1.0, paper_id)

    def _follow(self, desk: Desk) -> Steps[None]:
        """List the references and the citations of the best papers; stop if there are none."""
        for place, paper_id in enumerate(desk.ranking[: self._links]):
            if place == _UNLINKED and not self._linked:
                return
            for links in (desk.references, desk.citations):
                hits = yield from links(paper_id)
                self._linked = self._linked or bool(hits)
                self._votes.links([hit.id for hit in hits], _LINKING, paper_id)

    def _rank(self, desk: Desk) -> None:
        """Put all papers found on the desk, best first."""
        ids = self._votes.ids
        scores = self._votes.scores(self._trust)
        order = best_first(scores)
        pool = order[:_POOL]
        if len(pool) > 1 and self._titles:
            names = [desk.papers[ids[number]].title for number in pool]
            predicted = regressed(scores[pool], names, self._encoder)
            corrected = standard(scores[pool]) + self._titles * standard(predicted)
            order = [pool[place] for place in best_first(corrected)] + order[_POOL:]
        desk.ranking = [ids[number] for number in order]


TOPIC = ""  # source of a list that was not searched for with a paper: the topic's

_TURNS = 3
_DIGITS = 9  # later digits may depend on the order of additions in a library


class Votes:
    """Papers by number, in order of discovery, and the share that every list gives them."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._number: dict[str, int] = {}
        self._lists: list[tuple[str, float, NDArray[np.int64], Scores]] = []  # source, weight

    def search(self, hits: Sequence[Hit], weight: float = 1.0, source: str = TOPIC) -> None:
        """Count the hits of one query.

        A hit's share is its score, scaled to 1 for the best hit and 0 for the last. If the paper
        whose text is the query comes first, the next hit is the best, since a paper is always
        much nearer to itself.
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

    def scores(self, trust: float) -> Scores:
        """Return the weighted sum of shares of every paper, by number.

        The weight of a list with a source is the score of that paper to the power `trust`; scores
        and weights are computed in turns. The mean weight of sources is 1.
        """
        sources = list(dict.fromkeys(source for source, *_ in self._lists if source))
        numbers = [self._number[source] for source in sources]
        weights = np.ones(len(sources))
        scores = np.zeros(0)
        for turn in range(1 + _TURNS * bool(trust and sources)):
            if turn:
                weights = (scores[numbers] / (scores.max() or 1.0)) ** trust
            if weights.sum() > 1e-200:  # below it the quotient overflows, and every share is 0
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


def regressed(scores: Scores, titles: Sequence[str], encoder: str | None) -> Scores:
    """Return each score as predicted from the titles by kernel ridge regression.

    With the kernel K of the titles, rows and columns centred, and centred scores s the
    prediction is ``K (K + PENALTY I)^-1 s`` (Saunders, Gammerman and Vovk, ICML 1998). The
    kernel of two titles is the cosine of their words' TF-IDF vectors, and that of their
    embeddings added to it.

    Returns:
        Array of shape (n,), with a mean of 0.
    """
    return _regressed(tuple(scores.tolist()), tuple(titles), encoder).copy()


# Ranks between which nothing was found are equal, and so are those of an episode played again.
@lru_cache(64)
@one_thread()
def _regressed(shares: tuple[float, ...], titles: tuple[str, ...], encoder: str | None) -> Scores:
    scores = np.array(shares)
    kernel = _words(titles)
    if encoder is not None:
        vectors = unit(encode(titles, encoder))
        kernel = kernel + vectors @ vectors.T
    kernel = kernel - kernel.mean(0) - kernel.mean(1)[:, None] + kernel.mean()
    # By eigenvectors, since LAPACK's LU takes so much of the stack that a process in which Java
    # runs, for the engine lucene, dies of it.
    values, axes = np.linalg.eigh(kernel)
    along = axes.T @ (scores - scores.mean())
    return axes @ (values / (values + PENALTY) * along)  # type: ignore[no-any-return]


def standard(values: Scores) -> Scores:
    """Return values with a mean of 0 and a standard deviation of 1; zeros if all are equal."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)


def _words(titles: Sequence[str]) -> Scores:
    """Return the cosines of TF-IDF vectors of the titles' stems, of those in at least two."""
    stems = [_stems(title) for title in titles]
    count = Counter(stem for title in stems for stem in title)
    known = {stem: column for column, stem in enumerate(s for s in count if count[s] > 1)}
    weights = {stem: np.log(len(titles) / count[stem]) for stem in known}
    vectors = np.zeros((len(titles), len(known)))
    for row, title in enumerate(stems):
        for stem in known.keys() & title:
            vectors[row, known[stem]] = weights[stem]
    vectors = unit(vectors)
    return vectors @ vectors.T


@lru_cache(1 << 14)
def _stems(title: str) -> list[str]:
    return sorted(set(analyze(title)))
