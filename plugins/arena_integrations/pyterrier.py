"""PyTerrier: dated search as a retriever, and a filter that keeps what exists in other results.

Neither starts Java. A topic's day is in the column ``before``, which the topics of
`arena_integrations.ir_datasets` have.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from annotated_types import Ge

from arena.kit.lazy import require
from arena.kit.options import checked

require("the integration with PyTerrier", "pyterrier")

import pyterrier as pt

from arena.corpus import Corpus, CorpusView, search_batch
from arena.dates import parse_cutoff
from arena.errors import DataError

DataFrame: TypeAlias = Any
"""A frame of pandas, which comes with PyTerrier."""
_NEVER = "9999-12-31"


class _Dated(pt.Transformer):
    """Has the view of the corpus for each row: that of its ``before``, and of no later day."""

    def __init__(self, corpus: Corpus | str | Path, before: str | None = None) -> None:
        super().__init__()
        self._corpus = Corpus.resolve(corpus)
        self._latest = None if before is None else str(parse_cutoff(before))

    def _views(self, frame: DataFrame, retriever: Any = "bm25") -> list[CorpusView]:
        if "before" not in frame.columns and self._latest is None:
            raise DataError(
                "the topics have no column 'before', the first day out of reach. Add one, or give "
                "before=DAY to the transformer."
            )
        own = frame["before"] if "before" in frame.columns else [self._latest] * len(frame)
        days = [min(str(parse_cutoff(day)), self._latest or _NEVER) for day in own]
        views = {day: self._corpus.at(day, retriever=retriever) for day in set(days)}
        return [views[day] for day in days]


class DatedRetriever(_Dated):
    """Search a corpus as of each topic's day, by any engine of the corpus.

    Args:
        corpus: A built corpus, or its directory.
        retriever: Name of an index, or a combination such as ``"hybrid(bm25,dense)"``.
        k: Most papers of a topic.
        before: First day out of reach of topics without the column ``before``, and of those whose
            day is later.
        options: Options of the engine.
    """

    @checked
    def __init__(
        self,
        corpus: Corpus | str | Path,
        retriever: str = "bm25",
        *,
        k: Annotated[int, Ge(1)] = 1000,
        before: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(corpus, before)
        self._k, self._name, self._options = k, retriever, options
        self._engine = self._corpus.retriever(retriever, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy, in this process or another, opens the engine again."""
        settings = {"k": self._k, "before": self._latest, **self._options}
        return partial(type(self), self._corpus, self._name, **settings), ()

    def __repr__(self) -> str:
        return f"DatedRetriever({self._name})"

    def transform(self, inp: DataFrame) -> DataFrame:
        """Return the hits of topics (``qid``, ``query``): their columns, docno, score and rank."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        topics = inp.drop(columns=["docno", "score", "rank"], errors="ignore")
        topics = topics.reset_index(drop=True)
        views = self._views(topics, self._engine)
        found = search_batch(
            [(view, query, self._k) for view, query in zip(views, topics["query"], strict=True)]
        )
        rows = topics.loc[topics.index.repeat([len(hits) for hits in found])]
        return rows.reset_index(drop=True).assign(
            docno=[hit.id for hits in found for hit in hits],
            score=[hit.score for hits in found for hit in hits],
            rank=[rank for hits in found for rank in range(len(hits))],
        )


class InReach(_Dated):
    """Drop from the results of another retriever what does not exist on the topic's day.

    What is left had its scores from an index of all papers: later papers moved them, and took
    places among its first.

    Args:
        corpus: A built corpus, or its directory.
        before: As in `DatedRetriever`.
    """

    def transform(self, inp: DataFrame) -> DataFrame:
        """Return the rows whose paper exists, ranked again."""
        pt.validate.result_frame(inp)
        kept = [paper in view for paper, view in zip(inp["docno"], self._views(inp), strict=True)]
        return pt.model.add_ranks(inp.loc[kept].reset_index(drop=True))
