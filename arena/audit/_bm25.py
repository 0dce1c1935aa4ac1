"""BM25 over the papers in reach, by the formula alone: no index, no prefix, no statistics kept."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.audit._facts import Facts, Reach
from arena.text import analyze

MAX_CHARACTERS = 200_000_000
"""A corpus with more text is not analysed again."""

TOLERANCE = 1e-9


class Bm25:
    """Scores of docs/bm25.md with k1 = 0.9 and b = 0.4.

    Args:
        facts: the papers.
        fields: what is indexed, of ``title``, ``abstract`` and ``fulltext``.
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
        """Return the score of every document, shape (n,); 0 where none of the terms is."""
        found = np.zeros(len(self.lengths))
        total = int(reach.mask.sum())
        if not total:
            return found
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
            found[documents] += times * idf * counts / (counts + norm)
        return found


def text_of(facts: Facts, number: int, fields: tuple[str, ...]) -> str:
    """Return the indexed text of a document."""
    paper = facts.papers[number]
    parts = {"title": [paper.title], "abstract": [paper.abstract]}
    parts["fulltext"] = [part for section in facts.sections.get(number, ()) for part in section]
    return "\n".join(part for field in fields for part in parts[field])


def characters(facts: Facts) -> int:
    """Return how much text there is."""
    own = sum(len(paper.title) + len(paper.abstract) for paper in facts.papers)
    full = (len(h) + len(t) for sections in facts.sections.values() for h, t in sections)
    return own + sum(full)


def wrong_scores(
    wanted: NDArray[np.float64], numbers: list[int], scores: list[float], offset: int, k: int
) -> str | None:
    """Return what is wrong with hits that a search gave, or None.

    Args:
        wanted: what `Bm25.scores` says.
        numbers: documents of the hits.
        scores: theirs.
        offset: hits that were passed over.
        k: hits asked for.
    """
    best = np.sort(wanted[wanted > 0])[::-1][offset : offset + k]
    if len(best) != len(scores):
        return f"{len(scores)} hits where {len(best)} papers match"
    for number, score, rank in zip(numbers, scores, best.tolist(), strict=True):
        own = float(wanted[number])
        if abs(score - own) > TOLERANCE * max(1.0, own):
            return f"document {number} scores {score!r} and should score {own!r}"
        if abs(score - rank) > TOLERANCE * max(1.0, rank):
            return f"document {number} scores {score!r} where the ranking has {rank!r}"
    return None
