"""Dense vectors searched over the prefix of rows that existed, exactly.

The score of a document is the inner product of its vector and the query's, both of length 1 and
rounded to float16, computed without any further rounding. On vectors of length 1 it orders as
negated Euclidean distance does: -|q - d|^2 = 2 q.d - 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from arena.encoders import ENCODERS, make_encoder
from arena.kit.files import sha256_json, write_json
from arena.kit.lazy import once
from arena.retrieval.base import (
    IndexInput,
    OpenedIndex,
    ParallelMap,
    Ranking,
    Request,
    Retriever,
    retriever,
)
from arena.retrieval.dense._build import EncoderSpec, finish, write_vectors
from arena.retrieval.dense._codes import Codes, load_codes, write_codes
from arena.retrieval.dense._flat import (
    FlatSearch,
    RowRanking,
    RowRequest,
    best,
)
from arena.retrieval.dense._vectors import (
    ENCODER,
    VECTORS,
    QueryVectors,
    load_vectors,
    read_description,
)

__all__ = [
    "Dense", "FlatSearch", "RowRanking", "RowRequest", "best", "build_index", "load_codes",
    "load_vectors",
]  # fmt: skip


@retriever("dense")
class Dense(Retriever):
    """Nearest vectors before the cutoff, exact."""

    resumes: ClassVar[bool] = True
    runs_in_parallel: ClassVar[bool] = True

    def __init__(
        self,
        directory: Path,
        *,
        device: str = "auto",
        cache: Annotated[int, Ge(0)] = 10_000,
        model: str | None = None,
    ) -> None:
        """Open the index in `directory`, memory-mapped. The encoder is loaded by the first query.

        Args:
            directory: Directory that `build` wrote into.
            device: Device of an encoder that takes one, such as ``"cpu"`` or ``"cuda"``.
            cache: Number of query vectors to keep, >= 0.
            model: Present folder of the model, if the index was built with one that has moved.
        """
        self._opened = OpenedIndex(directory, VECTORS)
        description = read_description(directory)
        self.vectors, self._documents = load_vectors(directory, description["dimension"])
        self._codes = load_codes(directory, self.vectors.shape)
        self.documents = int(self._documents[-1]) + 1 if len(self._documents) else 0
        self._opened.require_same_file()
        self._queries = QueryVectors(directory, description, device, model, cache)
        self.helpers = (self._queries.kind,)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, and the encoder."""
        return {"encoder": self._queries.config}

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        *,
        encoder: str = "static",
        parallel: ParallelMap | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Encode the searchable papers of `source`; continue what a killed build left.

        The first arguments are those of `Retriever.build`, further `options` those of the encoder.
        `parallel` runs the encoding in other processes.
        """
        return build_index(source, directory, fields, progress, encoder, options, parallel)

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return the `k` documents of each scope whose vectors are nearest to the query's.

        Every document of the scope is a hit, however far. A blank query, or one in which the
        encoder finds nothing, has none. Cost: reading the codes before the end of the scope,
        once for 128 requests.
        """
        return self.rank(requests, self._searching)

    def rank(
        self,
        requests: Sequence[Request],
        searching: Callable[
            [tuple[int, int] | None], Callable[[Sequence[RowRequest]], list[RowRanking]]
        ],
    ) -> list[Ranking]:
        """Return what is found for requests, as documents.

        `searching` returns how rows are searched, those of a window as if there were no others:
        the first, and one after the last; None for all rows.
        """
        window = requests[0].scope.window if requests else None
        low, high = (0, 2**32) if window is None else (self._row(each) for each in window)
        scopes = {
            i: rows for i, each in enumerate(requests) if (rows := self._in_rows(each, low, high))
        }
        vectors = self._queries.all([requests[i].query for i in scopes])
        pairs = zip(scopes.items(), vectors, strict=True)
        asked = {i: RowRequest(one, *rows) for (i, rows), one in pairs if one is not None}
        search_rows = searching(None if window is None else (low, high))
        found = dict(zip(asked, search_rows([*asked.values()]), strict=True))
        return [self._in_documents(found.get(i), low) for i in range(len(requests))]

    def require_same_file(self) -> None:
        """Raise a CorpusError if another index has taken the place of this one."""
        self._opened.require_same_file()

    def search_rows(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the nearest rows for each request; an engine may search otherwise."""
        return self.flat.search(requests) if requests else []

    def prepared(self, query: str) -> Any:
        """Return the vector of a query; the query itself, if there is none."""
        vector = self._queries.get(query)
        return query if vector is None else vector

    def _searching(self, window: tuple[int, int] | None) -> Any:
        return self.search_rows if window is None else self.flat_of(*window).search

    def flat_of(self, low: int, high: int) -> FlatSearch:
        """Return the exact search of some rows."""
        codes = Codes(self._codes.codes[low:high], self._codes.bounds[low:high])
        return FlatSearch(self.vectors[low:high], codes)

    def _in_rows(
        self, request: Request, low: int, high: int
    ) -> tuple[int, int, NDArray[np.int64]] | None:
        """Return k, end and excluded of a request, in rows from `low` on; None if none match."""
        _, k, scope = request
        if k <= 0 or (end := min(self._row(scope.end), high)) <= low:
            return None
        rows = [self._row(d) for d in scope.excluded if self._row(d) < self._row(d + 1)]
        excluded = np.array([row - low for row in rows if low <= row < end], np.int64)
        k = min(k, end - low - len(excluded))
        return (k, end - low, excluded) if k > 0 else None

    def _row(self, document: int) -> int:
        """Return how many rows are of documents below this one."""
        if document >= 2**32:
            return len(self._documents)
        return int(np.searchsorted(self._documents, np.uint32(max(document, 0))))

    def _in_documents(self, ranking: RowRanking | None, low: int) -> Ranking:
        if ranking is None:
            return Ranking(np.empty(0, np.int64), np.empty(0))
        return Ranking(self._documents[ranking.rows + low].astype(np.int64), ranking.scores)

    @once
    def flat(self) -> FlatSearch:
        """The exact search."""
        return self.flat_of(0, len(self.vectors))


def build_index(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
    encoder: str,
    options: dict[str, Any],
    parallel: ParallelMap | None = None,
    then: Callable[[int], Any] | None = None,
) -> dict[str, Any]:
    """Encode the searchable papers of `source`, and write codes and description.

    The first arguments are those of `Retriever.build`; `options` are those of the encoder.
    `then` is called with the dimension before the index counts as finished, to build more from the
    vectors. Returns what the manifest of the index says.
    """
    encoder = ENCODERS.resolve(encoder)
    made = make_encoder(encoder, options)
    kept = {name: value for name, value in options.items() if name != "device"}
    identity = {"encoder": encoder, "options": kept, "config": made.config}
    how = EncoderSpec(encoder, json.dumps(options), made.dimension, sha256_json(made.config))
    blank = write_vectors(source, directory, fields, progress, how, identity, parallel)
    write_codes(directory, load_vectors(directory, made.dimension)[0])
    described = {**identity, "dimension": made.dimension, "fields": list(fields)}
    write_json(directory / ENCODER, described)
    if then is not None:
        then(made.dimension)
    finish(directory)
    return {
        "fields": list(fields),
        "encoder": {"name": encoder, **made.config},
        "documents": int(source.searchable_before[-1]),
        "blank": blank,
        "dimension": made.dimension,
    }
