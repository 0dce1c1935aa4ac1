"""A second BM25 over the papers in reach, computed from the formula without an index."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.testing.files import Facts, Reach
from arena.text import analyze

TOLERANCE = 1e-9


class Bm25:
    """Scores of docs/bm25.md with k1 = 0.9 and b = 0.4.

    Args:
        facts: The papers.
        fields: The indexed fields, of ``title``, ``abstract`` and ``fulltext``.
    """

    def __init__(self, facts: Facts, fields: tuple[str, ...]) -> None:
        self._lengths = np.zeros(len(facts.papers))
        postings: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for paper in facts.papers:
            if paper.survey or paper.date is None:
                continue
            sections = facts.sections.get(paper.number, ())
            texts = {"title": [paper.title], "abstract": [paper.abstract]}
            texts["fulltext"] = [text for section in sections for text in section]
            text = "\n".join(text for field in fields for text in texts[field])
            for term, times in Counter(analyze(text)).items():
                self._lengths[paper.number] += times
                postings[term][0].append(paper.number)
                postings[term][1].append(times)
        self._postings: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
            term: (np.array(documents), np.array(counts, np.float64))
            for term, (documents, counts) in postings.items()
        }

    def scores(self, query: str, reach: Reach) -> NDArray[np.float64]:
        """Return the score of every document, shape (n,); 0 for those without a term."""
        scores = np.zeros(len(self._lengths))
        total = len(reach.numbers)
        average = float(self._lengths[reach.numbers].sum()) / max(1, total)
        for term, times in Counter(analyze(query)).items():
            documents, counts = self._postings.get(term, (reach.numbers[:0], scores[:0]))
            here = reach.mask[documents]
            documents, counts = documents[here], counts[here]
            if n := len(documents):
                idf = math.log(1 + (total - n + 0.5) / (n + 0.5))
                norm = 0.9 * (1 - 0.4 + 0.4 * self._lengths[documents] / average)
                scores[documents] += times * idf * counts / (counts + norm)
        return scores


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
