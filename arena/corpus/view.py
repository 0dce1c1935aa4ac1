"""The only way to the papers: a corpus as it was before a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

import numpy as np

from arena.corpus.store import as_brief
from arena.dates import format_day
from arena.errors import CorpusError, DataError, UnknownPaperError, clip
from arena.papers import Brief, Hit, Paper, Section
from arena.retrieval import Request, Scope
from arena.retrieval.fusion import DEPTH, fuse, reciprocal_ranks
from arena.text.display import count

if TYPE_CHECKING:
    from arena.corpus.store import CorpusStore
    from arena.retrieval import Ranking, Retriever

T = TypeVar("T")

__all__ = ["Brief", "CorpusView", "Hit", "Paper", "Section", "rank_batch", "search_batch"]


class CorpusView:
    """The papers that existed before a cutoff; made by `Corpus.at`.

    A paper dated on or after the cutoff, an undated one, a survey and an excluded one do not
    exist here: not in a search, not by id, not among references, citations or counts. Asking
    for one raises the same `UnknownPaperError` as asking for an id that no paper has.
    """

    def __init__(
        self,
        store: CorpusStore,
        day: int,
        exclude: Iterable[str] | None,
        retriever: str | Retriever,
        open_retriever: Callable[[str], Retriever],
        again: Callable[[list[str]], tuple[Any, ...]],
    ) -> None:
        exclude = () if exclude is None else exclude
        if isinstance(exclude, str | bytes) or not isinstance(exclude, Iterable):
            raise DataError(f"exclude={clip(exclude)}: give a list of ids.")
        self._store, self._day = store, day
        end = store.end(day)
        documents = {store.document(_id(paper_id)) for paper_id in exclude}
        self._excluded = frozenset(
            d for d in documents if d is not None and d < end and store.is_searchable(d)
        )
        self._scope = Scope(end, tuple(sorted(self._excluded)))
        self._retriever, self._open_retriever, self._again = retriever, open_retriever, again

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again([self._store.ids[document] for document in sorted(self._excluded)])

    @property
    def cutoff(self) -> str:
        """The first day out of reach, ``YYYY-MM-DD``."""
        return format_day(self._day)

    def search(self, query: str, k: int = 10) -> list[Hit]:
        """Return the best `k` papers for `query`: higher score, then earlier in the corpus.

        A blank query finds nothing; fewer than `k` hits mean that no more match. What matches is
        up to the engine: for ``bm25`` papers with a term of the query, for ``dense`` every paper.

        Raises:
            DataError: if `query` is not a string or `k` not an integer >= 0.
            UnknownNameError, CorpusError: if the engine does not exist, has no index, or returns
                what does not exist here.
        """
        return search_batch([(self, query, k)])[0]

    def paper(self, paper_id: str) -> Paper:
        """Return the paper with this id."""
        row = self._store.row(self._document(paper_id))
        return _paper(row, row["date"].isoformat(), row["date_precision"])

    def briefs(self, paper_ids: Iterable[str]) -> list[Brief]:
        """Return id, title and date of papers, in the order given."""
        briefs = self._store.written(as_brief)
        return [briefs[self._document(paper_id)] for paper_id in paper_ids]

    def sections(self, paper_id: str) -> list[Section]:
        """Return the full text in order; empty if the corpus has none of this paper."""
        rows = self._store.sections(self._document(paper_id))
        return [Section(row["heading"], row["text"]) for row in rows]

    def references(self, paper_id: str) -> list[str]:
        """Return the ids of the papers it cites, in document order."""
        return self._linked(paper_id, citing=False)

    def citations(self, paper_id: str) -> list[str]:
        """Return the ids of the papers that cite it, in document order."""
        return self._linked(paper_id, citing=True)

    def citation_count(self, paper_id: str) -> int:
        """Return the number of papers of this view that cite it."""
        return len(self.citations(paper_id))

    def __len__(self) -> int:
        return int(self._store.searchable_before[self._scope.end]) - len(self._excluded)

    def __contains__(self, paper_id: object) -> bool:
        return isinstance(paper_id, str) and self._visible(paper_id) is not None

    def __repr__(self) -> str:
        return f"<{count(len(self), 'paper')} before {self.cutoff}>"

    def _request(self, query: str, k: int) -> Request:
        if not isinstance(query, str):
            raise DataError(f"query={clip(query)} is not a string.")
        if isinstance(k, bool) or not isinstance(k, _INTEGERS) or k < 0:
            raise DataError(f"k={clip(k)}: give an integer >= 0.")
        return Request(query, int(k), self._scope)

    def _engine(self) -> Retriever:
        if isinstance(self._retriever, str):
            self._retriever = self._open_retriever(self._retriever)
        return self._retriever

    def _visible(self, paper_id: str) -> int | None:
        store, document = self._store, self._store.document(paper_id)
        if (
            document is None
            or document >= self._scope.end
            or store.days.item(document) >= self._day
            or document in self._excluded
            or not store.is_searchable(document)
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

    def _linked(self, paper_id: str, *, citing: bool) -> list[str]:
        """Return the ids at the far ends of the links; only searchable papers have any."""
        linked = self._store.linked(self._document(paper_id), citing=citing)
        visible = linked[linked < self._scope.end]
        # The dates of the papers themselves, too: a damaged corpus must not show the future.
        visible = visible[self._store.days[visible] < self._day]
        ids = self._store.ids
        return [ids[d] for d in visible.tolist() if d not in self._excluded]


class ListedView(CorpusView):
    """The papers of a list, whatever their dates, which are not shown; made by `Corpus.listed`.

    No other paper exists here, no search finds one, and no paper has a link or a date.
    """

    def __init__(
        self, store: CorpusStore, day: int, papers: Iterable[str], again: Callable[[Any], Any]
    ) -> None:
        super().__init__(store, day, (), "", _no_engine, again)
        documents = map(store.document, papers)
        self._listed = {number: None for number in documents if number is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again([self._store.ids[document] for document in self._listed])

    def paper(self, paper_id: str) -> Paper:
        """Return the paper with this id, without a date."""
        return _paper(self._store.row(self._document(paper_id)), "", "")

    def briefs(self, paper_ids: Iterable[str]) -> list[Brief]:
        """Return id and title of papers, in the order given."""
        return [Brief(each, self._store.titles[self._document(each)], "") for each in paper_ids]

    def __len__(self) -> int:
        return len(self._listed)

    def _visible(self, paper_id: str) -> int | None:
        document = self._store.document(paper_id)
        return document if document in self._listed else None

    def _linked(self, paper_id: str, *, citing: bool) -> list[str]:
        self._document(paper_id)
        return []


def _no_engine(name: str) -> NoReturn:
    raise DataError("a list of papers cannot be searched.")


def _paper(row: dict[str, Any], date: str, precision: str) -> Paper:
    lists = tuple(row["authors"]), tuple(row["fields"])
    return Paper(row["id"], row["title"], row["abstract"], date, precision, row["venue"], *lists)


def search_batch(searches: Sequence[tuple[CorpusView, str, int]]) -> list[list[Hit]]:
    """Return what ``view.search(query, k)`` returns for each (view, query, k), in order.

    The views may be of any corpora, cutoffs and engines; engines can share work.
    """
    return [
        [_HIT((*paper, score)) for paper, score in zip(papers, scores, strict=True)]
        for papers, scores in rank_batch(searches, as_brief)
    ]


# What `Hit._make` does, without a call of Python code for each.
_HIT: Callable[[tuple[Any, ...]], Hit] = partial(tuple.__new__, Hit)


class RankedPapers(NamedTuple, Generic[T]):
    """The papers that a search ranks, best first, as they are written, and their scores."""

    papers: list[T]
    scores: list[float]


def rank_batch(
    searches: Sequence[tuple[CorpusView, str | tuple[str, ...], int]], write: Callable[[Brief], T]
) -> list[RankedPapers[T]]:
    """Search as `search_batch`, with papers written by `write`, a function of a module.

    It is called once for each paper, and what it returns is kept. The first 1,000 hits (or `k`, if
    that is more) of several queries are fused into one ranking by their reciprocal ranks.
    """
    asked = [
        (view, view._request(one, k if query is one else max(k, DEPTH)))
        for view, query, k in searches
        for one in (query if isinstance(query, tuple) else (query,))
    ]
    groups: dict[tuple[int, int], list[int]] = {}  # an engine and a corpus: places in `asked`
    for place, (view, _) in enumerate(asked):
        groups.setdefault((id(view._engine()), id(view._store)), []).append(place)
    found: list[Any] = [None] * len(asked)
    for places in groups.values():
        views, requests = zip(*(asked[place] for place in places), strict=True)
        rankings = views[0]._engine().search_batch(list(requests))
        if not _in_scope(views, requests, rankings):
            _refuse(views, requests, rankings)
        for place, ranking in zip(places, rankings, strict=True):
            found[place] = ranking
    rest, ranked = iter(found), list[RankedPapers[T]]()
    for view, query, k in searches:
        if isinstance(query, tuple):
            parts = [next(rest) for _ in query]
            shares = [reciprocal_ranks(len(part.documents)) for part in parts]
            documents, scores = fuse(parts, shares, k)
        else:
            documents, scores = next(rest)
        paper = view._store.written(write).__getitem__
        ranked.append(RankedPapers(list(map(paper, documents.tolist())), scores.tolist()))
    return ranked


def _in_scope(
    views: Sequence[CorpusView], requests: Sequence[Request], rankings: Sequence[Ranking]
) -> bool:
    """Return whether rankings of one corpus have what exists in their views, once, and no more.

    No engine is trusted with this, least of all one from elsewhere.
    """
    sizes = [len(ranking.documents) for ranking in rankings]
    if len(sizes) != len(views) or any(
        len(ranking.scores) != size or size > request.k
        for ranking, size, request in zip(rankings, sizes, requests, strict=True)
    ):
        return False
    documents = np.concatenate([ranking.documents for ranking in rankings])
    scores = np.concatenate([ranking.scores for ranking in rankings])
    of_view = np.arange(len(views)).repeat(sizes)
    ends = np.array([view._scope.end for view in views])[of_view]
    if documents.dtype != np.int64 or ((documents < 0) | (documents >= ends)).any():
        return False
    store = views[0]._store
    before, cutoffs = store.searchable_before, np.array([view._day for view in views])[of_view]
    # The dates of the hits themselves, too: a damaged corpus must not show the future.
    if (store.days[documents] >= cutoffs).any():
        return False
    if (before[documents + 1] == before[documents]).any() or not np.isfinite(scores).all():
        return False
    keys = of_view * len(before) + documents
    keys.sort()
    if (keys[1:] == keys[:-1]).any():
        return False
    return not any(
        view._excluded and not view._excluded.isdisjoint(ranking.documents.tolist())
        for view, ranking in zip(views, rankings, strict=True)
    )


def _refuse(
    views: Sequence[CorpusView], requests: Sequence[Request], rankings: Sequence[Ranking]
) -> NoReturn:
    """Name the first view whose ranking is not in its scope."""
    for view, request, ranking in zip(views, requests, rankings, strict=True):
        if not _in_scope([view], [request], [ranking]):
            break
    raise CorpusError(
        f"the retriever {type(view._retriever).__name__} returned papers that do not exist "
        f"before {view.cutoff}, one twice, more than {request.k}, or one without a finite score. "
        "Its search() must keep to the scope. If it does, the corpus is damaged: "
        "verify it."
    )


def _id(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # as the builder reads Semantic Scholar's numbers
    if not isinstance(value, str):
        raise DataError(f"exclude contains {clip(value)}: ids are strings.")
    return value


_INTEGERS = (int, np.integer)
