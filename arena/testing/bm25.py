"""A second BM25 over the papers in reach, computed from the formula without an index."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.testing.files import Facts, Reach
from arena.text import analyze

MAX_CHARACTERS = 200_000_000
"""A corpus with more text gets no second BM25."""

TOLERANCE = 1e-9


class Bm25:
    """Scores of docs/bm25.md with k1 = 0.9 and b = 0.4.

    Args:
        facts: The papers.
        fields: The indexed fields, of ``title``, ``abstract`` and ``fulltext``.
    """

    def __init__(self, facts: Facts, fields: tuple[str, ...]) -> None:
        self.lengths = np.zeros(len(facts.papers))
        postings: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for paper in facts.papers:
            if paper.survey or paper.date is None:
                continue
            terms = Counter(analyze(text_of(facts, paper.number, fields)))
            self.lengths[paper.number] = sum(terms.values())
            for term, times in terms.items():
                documents, counts = postings[term]
                documents.append(paper.number)
                counts.append(times)
        self._postings: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
            term: (np.array(documents), np.array(counts, np.float64))
            for term, (documents, counts) in postings.items()
        }

    def scores(self, query: str, reach: Reach) -> NDArray[np.float64]:
        """Return the score of every document, shape (n,); 0 for those without a term."""
        scores = np.zeros(len(self.lengths))
        total = int(reach.mask.sum())
        if not total:
            return scores
        average = float(self.lengths[reach.mask].sum()) / total
        for term, times in Counter(analyze(query)).items():
            if term not in self._postings:
                continue
            documents, counts = self._postings[term]
            here = reach.mask[documents]
            documents, counts = documents[here], counts[here]
            n = len(documents)
            idf = math.log(1 + (total - n + 0.5) / (n + 0.5))
            norm = 0.9 * (1 - 0.4 + 0.4 * self.lengths[documents] / average) if n else 1.0
            scores[documents] += times * idf * counts / (counts + norm)
        return scores


def text_of(facts: Facts, number: int, fields: tuple[str, ...]) -> str:
    """Return the indexed text of a document."""
    paper = facts.papers[number]
    parts = {"title": [paper.title], "abstract": [paper.abstract]}
    parts["fulltext"] = [part for section in facts.sections.get(number, ()) for part in section]
    return "\n".join(part for field in fields for part in parts[field])


def characters(facts: Facts) -> int:
    """Return the number of characters of all texts."""
    own = sum(len(paper.title) + len(paper.abstract) for paper in facts.papers)
    full = (len(h) + len(t) for sections in facts.sections.values() for h, t in sections)
    return own + sum(full)


def wrong_scores(
    expected: NDArray[np.float64], numbers: list[int], scores: list[float], offset: int, k: int
) -> str | None:
    """Return what is wrong with the hits of a search, or None.

    Args:
        expected: Scores of all documents by `Bm25.scores`.
        numbers: Document numbers of the hits.
        scores: Scores of the hits.
        offset: Number of hits that were skipped.
        k: Number of hits that were asked for.
    """
    best = np.sort(expected[expected > 0])[::-1][offset : offset + k]
    if len(best) != len(scores):
        return f"{len(scores)} hits where {len(best)} papers match"
    for number, score, rank in zip(numbers, scores, best.tolist(), strict=True):
        own = float(expected[number])
        if abs(score - own) > TOLERANCE * max(1.0, own):
            return f"document {number} scores {score!r} and should score {own!r}"
        if abs(score - rank) > TOLERANCE * max(1.0, rank):
            return f"document {number} scores {score!r} where the ranking has {rank!r}"
    return None
