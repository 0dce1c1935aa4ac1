"""Scout: search for papers like the best found so far, and rank by the agreement of searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arena._internal.cores import one_thread
from arena._internal.options import flag, number, whole
from arena.agents import AGENTS, Desk, Known, Researcher, Steps
from arena.encoders import ENCODERS
from baselines.clustering import cluster
from baselines.parts.votes import (
    Scores,
    Votes,
    best_first,
    regressed,
    similarity,
    standard,
    subtopics,
)

_POOL = 300  # best papers, whose titles are compared
_NAMING = 50  # best papers, from whose titles sub-topics are taken
_UNLINKED = 3  # papers without links, after which no further links are listed
_TRIES = 3  # papers that a round looks at for each one that it searches for
_LINKING = 4.0  # the weight of a list of references or citations, where that of a list of hits is 1


@AGENTS.register("scout")
class Scout(Researcher):
    """Search every engine for the topic, then for papers like the best, in rounds; no model.

    It searches for the topic, and then for the texts of the best papers, a few in each round. A
    paper's score is the sum of its shares in the lists of hits; the weight of a list that was
    searched for with a paper's text is that paper's score to the power `trust`. Before each round
    and at the end, scores are corrected by those of papers with similar titles. If papers have
    links, the remaining reads list the references and citations of the best ones. docs/scout.md
    measures what each part contributes.

    A subclass with more knowledge, such as one with a model, overrides `subtopics` and `judge`.

    Args:
        seed: Not used.
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
        subtopics: Most phrases of the best titles that are searched for, 0 to 100.
        subtopic_weight: Weight of a sub-topic's list, 0 to 1000.
        diversity: Penalty for a title equal to that of a better paper, 0 to 10, in units of the
            difference between the first and the last score.
        mapped: Most papers of the ranking in a mind-map, 1 to 1000.
        more: Options of another base of a subclass, such as `LLMAgent`.

    Raises:
        DataError: An option is out of its range.
        UnknownNameError: There is no such encoder.
    """

    def __init__(
        self,
        seed: int = 0,
        seeds: int = 24,
        rounds: int = 4,
        engines: bool = True,
        abstracts: bool = True,
        topic_weight: float = 9.0,
        trust: float = 2.0,
        titles: float = 1.0,
        encoder: str | None = "static",
        links: int = 25,
        subtopics: int = 0,
        subtopic_weight: float = 1.0,
        diversity: float = 0.0,
        mapped: int = 100,
        **more: Any,
    ) -> None:
        super().__init__(seed, **more)
        if encoder is not None:
            ENCODERS.get(encoder)
        self._seeds = whole("seeds", seeds, 0, 100)
        self._rounds = whole("rounds", rounds, 1, 100)
        self._engines, self._abstracts = flag("engines", engines), flag("abstracts", abstracts)
        self._topic_weight = number("topic_weight", topic_weight, 0, 1000)
        self._trust = number("trust", trust, 0, 10)
        self._titles = number("titles", titles, 0, 10)
        self._encoder = encoder
        self._links = whole("links", links, 0, 100)
        self._subtopics = whole("subtopics", subtopics, 0, 100)
        self._subtopic_weight = number("subtopic_weight", subtopic_weight, 0, 1000)
        self._diversity = number("diversity", diversity, 0, 10)
        self._mapped = whole("mapped", mapped, 1, 1000)
        self._votes = Votes()
        self._judged: dict[str, float] = {}
        self._used: list[str] = []
        self._linked = False

    def subtopics(self, desk: Desk) -> Steps[Sequence[str]]:
        """Return texts to search for besides the topic and papers; called once, after round one.

        Here these are phrases that several of the best titles share. A subclass may use
        `desk.papers` and `desk.ranking`, read papers, and ask a model.
        """
        yield from ()
        best = desk.ranking[:_NAMING]
        titles = [desk.papers[paper_id].title for paper_id in best]
        weights = [1 / (1 + rank) for rank in range(len(best))]
        return subtopics(titles, weights, desk.topic, self._subtopics)

    def judge(self, desk: Desk, paper_ids: Sequence[str]) -> Steps[Mapping[str, float]]:
        """Return paper id -> relevance to the topic, from 0 to 1; here nothing.

        It is called in each round with the papers to search for next, and after the last round
        with the best papers that are not judged yet. A paper that is not in the result is not
        judged. A paper judged 0 is not searched for, and ranks last.
        """
        yield from ()
        return {}

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for the topic, then for the texts of papers, and rank all papers found."""
        yield from self._search(desk, desk.topic, self._topic_weight)
        self._rank(desk)
        for turn in range(self._rounds):
            if turn == 1:
                for text in (yield from self.subtopics(desk)):
                    # A phrase alone leads away from the topic.
                    yield from self._search(desk, f"{desk.topic} {text}", self._subtopic_weight)
                self._rank(desk)
            due = self._seeds * (turn + 1) // self._rounds - len(self._used)
            yield from self._expand(desk, due)
            self._rank(desk)
        if self._linked or not desk.read_count:  # nothing read: links are unknown
            yield from self._follow(desk)
            self._rank(desk)
        yield from self._judge(desk, desk.ranking[: self._mapped])
        self._rank(desk)

    def organize(self, desk: Desk) -> Steps[None]:
        """Read abstracts and cluster the starting papers, or the first of the ranking."""
        if not desk.given and not desk.ranking:
            yield from self.discover(desk)
        papers = desk.given or desk.ranking[: self._mapped]
        for paper_id in papers:
            yield from desk.read(paper_id)
        if papers:
            known = [desk.papers[paper_id] for paper_id in papers]
            desk.mind_map = cluster(known, desk.topic)

    def notes(self) -> dict[str, Any]:
        """Return the papers whose texts were searched for, and whether the corpus has links."""
        return {"seeds": list(self._used), "links": self._linked}

    def _search(self, desk: Desk, text: str, weight: float, source: str = "") -> Steps[None]:
        for engine in desk.retrievers if self._engines and desk.retrievers else (None,):
            hits = yield from desk.search(text, retriever=engine)
            self._votes.search(hits, weight, source)

    def _expand(self, desk: Desk, count: int) -> Steps[None]:
        """Search for the texts of the next `count` papers."""
        passed: set[str] = set(self._used)
        tries = _TRIES * count  # a strict judge must not use up all steps in one round
        while count > 0 and tries > 0 and desk.searches_left:
            waiting = [paper_id for paper_id in desk.ranking if paper_id not in passed][:count]
            if not waiting:
                return
            passed.update(waiting)
            tries -= len(waiting)
            for paper_id in waiting if self._abstracts else ():
                before = desk.read_count
                yield from desk.read(paper_id)
                if desk.read_count > before and desk.result.get("citations"):
                    self._linked = True
            yield from self._judge(desk, waiting)
            for paper_id in waiting:
                if self._judged.get(paper_id, 1.0) and desk.searches_left:
                    self._used.append(paper_id)
                    count -= 1
                    yield from self._search(desk, _text(desk.papers[paper_id]), 1.0, paper_id)

    def _judge(self, desk: Desk, paper_ids: Sequence[str]) -> Steps[None]:
        new = [paper_id for paper_id in paper_ids if paper_id not in self._judged]
        if new:
            judged = yield from self.judge(desk, new)
            self._judged.update(judged)

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
        factor = np.array([self._judged.get(paper_id, 1.0) for paper_id in ids])
        scores = self._votes.scores(self._trust, self._judged) * factor
        order = best_first(scores)
        pool = order[:_POOL]
        if len(pool) > 1 and (self._titles or self._diversity):
            names = [desk.papers[ids[number]].title for number in pool]
            with one_thread():
                corrected = self._corrected(scores[pool], names)
            order = [pool[place] for place in corrected] + order[_POOL:]
        order.sort(key=lambda number: factor[number] == 0)
        desk.ranking = [ids[number] for number in order]

    def _corrected(self, scores: Scores, names: Sequence[str]) -> list[int]:
        """Return the places of the best papers in their final order."""
        total = standard(scores)
        if self._titles:
            total += self._titles * standard(regressed(scores, names, self._encoder))
        if not self._diversity:
            return best_first(total)
        alike = similarity(names, self._encoder)
        total = (total - total.min()) / ((total.max() - total.min()) or 1.0)
        order: list[int] = []
        loss = np.zeros(len(total))
        for _ in names:
            left = total - self._diversity * loss
            left[order] = -np.inf
            order.append(best_first(left)[0])
            loss = np.maximum(loss, alike[order[-1]])
        return order


def _text(paper: Known) -> str:
    return f"{paper.title}. {paper.abstract}" if paper.abstract else paper.title
