"""A reference implementation of the views of a corpus, computed from the rows without an index.

`PlainView` has the methods of `arena.CorpusView` and shares no code with it, only the analyzer of
``bm25`` and the types of papers. The audit calls both, and plays the tools over both.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import UnknownPaperError, clip
from arena.papers import Brief, Hit, Paper, Section
from arena.testing.stored import StoredCorpus, StoredPaper
from arena.text import analyze

TOLERANCE = 1e-9


class PlainView:
    """The papers that exist before a cutoff, by the rule as it is documented.

    `search` takes query and k: it is a view's own, for tools that search, and the audit checks its
    hits apart. `mask`, shape (n,), says which documents exist; `numbers` are theirs, ascending.
    """

    def __init__(
        self,
        stored: StoredCorpus,
        cutoff: str,
        excluded: Collection[str] = (),
        engine: str = "",
        search: Callable[[str, int], list[Hit]] = lambda query, k: [],
    ) -> None:
        self.search = search
        self.stored, self.cutoff, self.engine = stored, cutoff, engine
        self.excluded, self.day = frozenset(excluded), dt.date.fromisoformat(cutoff).toordinal()
        self.mask: NDArray[np.bool_] = (stored.days < self.day) & ~stored.survey
        for paper_id in self.excluded & stored.by_id.keys():
            self.mask[stored.by_id[paper_id].number] = False
        self.numbers = np.flatnonzero(self.mask)

    def row(self, paper_id: object) -> StoredPaper | None:
        """Return the row of a paper if it exists here, else None."""
        row = self.stored.by_id.get(paper_id) if isinstance(paper_id, str) else None
        return row if row and self.mask[row.number] else None

    def why_not(self, paper_id: object) -> str:
        """Return a clause that says why an id does not exist here."""
        row = self.stored.by_id.get(paper_id) if isinstance(paper_id, str) else None
        if row is None:
            return "is in no row of papers.parquet"
        if row.survey or row.date is None:
            return "is a survey" if row.survey else "is undated"
        is_late = row.day >= self.day
        return f"is dated {row.date}, not before {self.cutoff}" if is_late else "is excluded"

    # The methods of `CorpusView`.

    def paper(self, paper_id: str) -> Paper:
        """Return the paper with this id; raise UnknownPaperError if it does not exist here."""
        return Paper(*self._existing(paper_id)[1:9])  # type: ignore[arg-type]

    def briefs(self, paper_ids: Iterable[str]) -> list[Brief]:
        """Return id, title and date of papers."""
        rows = map(self._existing, paper_ids)
        return [Brief(row.id, row.title, str(row.date)) for row in rows]

    def sections(self, paper_id: str) -> list[Section]:
        """Return the full text in order."""
        number = self._existing(paper_id).number
        return [Section(*section) for section in self.stored.sections.get(number, ())]

    def references(self, paper_id: str) -> list[str]:
        """Return the ids of the papers it cites, in document order."""
        return self._linked(self.stored.cited, paper_id)

    def citations(self, paper_id: str) -> list[str]:
        """Return the ids of the papers that cite it, in document order."""
        return self._linked(self.stored.citing, paper_id)

    def _linked(self, links: Mapping[int, list[int]], paper_id: str) -> list[str]:
        numbers = links.get(self._existing(paper_id).number, ())
        return [self.stored.papers[n].id for n in numbers if self.mask[n]]

    def citation_count(self, paper_id: str) -> int:
        """Return how many papers cite it."""
        return len(self.citations(paper_id))

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, paper_id: object) -> bool:
        return self.row(paper_id) is not None

    def _existing(self, paper_id: str) -> StoredPaper:
        if (row := self.row(paper_id)) is None:
            raise UnknownPaperError(
                f"no paper {clip(paper_id)} here. Use an id that a search returned."
            )
        return row


class PlainList(PlainView):
    """The papers of a list, whatever their dates, without dates and links."""

    def __init__(self, stored: StoredCorpus, cutoff: str, papers: Collection[str]) -> None:
        super().__init__(stored, cutoff)
        self.excluded = frozenset(stored.by_id.keys() - papers)
        self.mask[:] = [paper.id not in self.excluded for paper in stored.papers]
        self.numbers = np.flatnonzero(self.mask)

    def paper(self, paper_id: str) -> Paper:
        """Return the paper with this id; raise UnknownPaperError if it is not in the list."""
        row = self._existing(paper_id)
        return Paper(*row[1:4], "", "", *row[6:9])

    def briefs(self, paper_ids: Iterable[str]) -> list[Brief]:
        """Return id and title of papers."""
        return [Brief(row.id, row.title, "") for row in map(self._existing, paper_ids)]

    def _linked(self, links: Mapping[int, list[int]], paper_id: str) -> list[str]:
        self._existing(paper_id)
        return []


class Bm25:
    """Scores of docs/retrieval.md with k1 = 0.9 and b = 0.4, from the formula.

    The indexed fields are some of ``title``, ``abstract`` and ``fulltext``.
    """

    def __init__(self, stored: StoredCorpus, fields: tuple[str, ...]) -> None:
        self._lengths = np.zeros(len(stored.papers))
        postings: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for paper in stored.papers:
            if paper.survey or paper.date is None:
                continue
            sections = stored.sections.get(paper.number, ())
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

    def scores(self, query: str, view: PlainView) -> NDArray[np.float64]:
        """Return the score of every document, shape (n,); 0 for those without a term."""
        scores = np.zeros(len(self._lengths))
        total = len(view)
        average = float(self._lengths[view.numbers].sum()) / max(1, total)
        for term, times in Counter(analyze(query)).items():
            documents, counts = self._postings.get(term, (view.numbers[:0], scores[:0]))
            here = view.mask[documents]
            documents, counts = documents[here], counts[here]
            if n := len(documents):
                idf = math.log(1 + (total - n + 0.5) / (n + 0.5))
                norm = 0.9 * (1 - 0.4 + 0.4 * self._lengths[documents] / average)
                scores[documents] += times * idf * counts / (counts + norm)
        return scores


def wrong_scores(
    expected: NDArray[np.float64], numbers: list[int], scores: list[float], offset: int, k: int
) -> str | None:
    """Return what is wrong with the numbers and scores of the hits of a search, or None.

    `expected` are the scores of all documents by `Bm25.scores`, shape (n,).
    """
    best = np.sort(expected[expected > 0])[::-1][offset : offset + k]
    if len(best) != len(scores):
        return f"hits: {len(scores)}, papers that match: {len(best)}"
    for number, score, rank in zip(numbers, scores, best.tolist(), strict=True):
        own = float(expected[number])
        for should, what in ((own, "should score"), (rank, "is where the ranking has")):
            if abs(score - should) > TOLERANCE * max(1.0, should):
                return f"document {number} scores {score!r} and {what} {should!r}"
    return None
