"""The only door to the papers: a corpus as it was before a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.corpus.hits import hits_of, rankings_of, read_hits
from arena.dates import format_day
from arena.errors import CorpusError, DataError, UnknownPaperError, clip
from arena.papers import Brief, Hit, Paper, Section
from arena.retrieval import Request, Scope

if TYPE_CHECKING:
    from arena.corpus.store import Store
    from arena.retrieval import Ranking, Retriever


__all__ = ["Brief", "CorpusView", "Hit", "Paper", "Section", "search_batch"]


class CorpusView:
    """The papers that existed before a cutoff; made by `Corpus.at`.

    A paper dated on or after the cutoff, an undated one, a survey and an excluded one do not
    exist here: not in a search, not by id, not among references, citations or counts. Asking
    for one raises the same `UnknownPaperError` as asking for an id that was never given.
    """

    def __init__(
        self,
        store: Store,
        day: int,
        exclude: Iterable[str] | None,
        retriever: str | Retriever,
        open_retriever: Callable[[str], Retriever],
    ) -> None:
        exclude = () if exclude is None else exclude
        if isinstance(exclude, str | bytes) or not isinstance(exclude, Iterable):
            raise DataError(f"exclude={clip(exclude)}: give a list of ids.")
        self._store = store
        self._day = day
        end = store.end(day)
        found = {store.document(_id(paper_id)) for paper_id in exclude}
        self._excluded = frozenset(
            d for d in found if d is not None and d < end and store.is_searchable(d)
        )
        self._scope = Scope(end, tuple(sorted(self._excluded)))
        self._retriever = retriever
        self._open_retriever = open_retriever

    @property
    def cutoff(self) -> str:
        """The first day out of reach, ``YYYY-MM-DD``."""
        return format_day(self._day)

    def search(self, query: str, k: int = 10) -> list[Hit]:
        """Return the best `k` papers for `query`: higher score, then earlier in the corpus.

        A blank query finds nothing; fewer than `k` hits mean that no more match. What matches is
        up to the engine: for ``bm25`` papers with a term of the query, for ``dense`` every paper.

        Raises:
            DataError: if `query` is no string or `k` no integer >= 0.
            UnknownNameError, CorpusError: if the engine does not exist, has no index, or returns
                what does not exist here.
        """
        request = self._request(query, k)
        ranking = self._engine().search(*request)
        self._check(ranking, request.k)
        return read_hits(self._store, *ranking)

    def paper(self, paper_id: str) -> Paper:
        """Return the paper with this id.

        Raises:
            UnknownPaperError: if it does not exist in this view.
        """
        row = self._store.row(self._document(paper_id))
        return Paper(
            row["id"],
            row["title"],
            row["abstract"],
            row["date"].isoformat(),
            row["date_precision"],
            row["venue"],
            tuple(row["authors"]),
            tuple(row["fields"]),
        )

    def briefs(self, paper_ids: Iterable[str]) -> list[Brief]:
        """Return id, title and date of papers, in the order given.

        Raises:
            UnknownPaperError: if one of them does not exist in this view.
        """
        documents = [self._document(paper_id) for paper_id in paper_ids]
        titles, days = self._store.titles, self._store.days
        return [Brief(self._store.ids[d], titles[d], format_day(days.item(d))) for d in documents]

    def sections(self, paper_id: str) -> list[Section]:
        """Return the full text in order; empty if the corpus has none of this paper.

        Raises:
            UnknownPaperError: if it does not exist in this view.
        """
        rows = self._store.sections(self._document(paper_id))
        return [Section(row["heading"], row["text"]) for row in rows]

    def references(self, paper_id: str) -> list[str]:
        """Return the ids of the papers it cites, in document order.

        Raises:
            UnknownPaperError: if it does not exist in this view.
        """
        document = self._document(paper_id)
        return self._linked(self._store.cited_starts, self._store.cited, document)

    def citations(self, paper_id: str) -> list[str]:
        """Return the ids of the papers that cite it, in document order.

        Raises:
            UnknownPaperError: if it does not exist in this view.
        """
        document = self._document(paper_id)
        return self._linked(self._store.citing_starts, self._store.citing, document)

    def citation_count(self, paper_id: str) -> int:
        """Return the number of papers of this view that cite it.

        Raises:
            UnknownPaperError: if it does not exist in this view.
        """
        return len(self.citations(paper_id))

    def __len__(self) -> int:
        return int(self._store.searchable_before[self._scope.end]) - len(self._excluded)

    def __contains__(self, paper_id: object) -> bool:
        return isinstance(paper_id, str) and self._visible(paper_id) is not None

    def __repr__(self) -> str:
        return f"<{len(self)} papers before {self.cutoff}>"

    def _request(self, query: str, k: int) -> Request:
        if not isinstance(query, str):
            raise DataError(f"query={clip(query)} is no string.")
        if isinstance(k, bool) or not isinstance(k, _INTEGERS) or k < 0:
            raise DataError(f"k={clip(k)}: give an integer >= 0.")
        return Request(query, int(k), self._scope)

    def _engine(self) -> Retriever:
        if isinstance(self._retriever, str):
            self._retriever = self._open_retriever(self._retriever)
        return self._retriever

    def _check(self, ranking: Ranking, k: int) -> None:
        """Trust no engine, least of all one from elsewhere, with what may be seen."""
        before = self._store.searchable_before
        documents, scores = ranking
        found = set(documents.tolist())
        if len(documents) != len(scores) or (
            found
            and (
                len(found) < len(documents)
                or len(found) > k
                or min(found) < 0
                or max(found) >= self._scope.end
                or (before[documents + 1] == before[documents]).any()
                or not self._excluded.isdisjoint(found)
                or not np.isfinite(scores).all()
            )
        ):
            raise CorpusError(
                f"the retriever {type(self._retriever).__name__} returned papers that do not exist "
                f"before {self.cutoff}, one twice, more than {k}, or one without a finite score. "
                "Its search() must keep to the scope."
            )

    def _visible(self, paper_id: str) -> int | None:
        document = self._store.document(paper_id)
        if (
            document is None
            or document >= self._scope.end
            or document in self._excluded
            or not self._store.is_searchable(document)
        ):
            return None
        return document

    def _document(self, paper_id: str) -> int:
        document = self._visible(paper_id) if isinstance(paper_id, str) else None
        if document is None:
            raise UnknownPaperError(
                f"no paper {clip(paper_id)} here. Use an id that a search returned."
            )
        return document

    def _linked(self, starts: NDArray[Any], targets: NDArray[Any], document: int) -> list[str]:
        """Return the ids at the far ends of the links; only searchable papers have any."""
        low, high = starts.item(document), starts.item(document + 1)
        linked = targets[low:high].tolist()  # ascending document numbers
        end, ids = self._scope.end, self._store.ids
        return [ids[d] for d in linked if d < end and d not in self._excluded]


def search_batch(searches: Sequence[tuple[CorpusView, str, int]]) -> list[list[Hit]]:
    """Search many views at once, so that engines can share work; the answers are the same.

    Args:
        searches: (view, query, k) triples; the views may be of any corpora, cutoffs and engines.

    Returns:
        What ``view.search(query, k)`` returns for each, in order.

    Raises:
        DataError, UnknownNameError, CorpusError: as `CorpusView.search`.
    """
    return hits_of([view for view, _, _ in searches], rankings_of(searches))


def _id(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # as the builder reads Semantic Scholar's numbers
    if not isinstance(value, str):
        raise DataError(f"exclude holds {clip(value)}: ids are strings.")
    return value


_INTEGERS = (int, np.integer)
