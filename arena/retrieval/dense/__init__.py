"""Dense vectors searched over the prefix of rows that existed: exact, or by inverted lists.

The score of a document is the inner product of its vector and the query's, both of length 1 and
rounded to float16, computed without any further rounding. On vectors of length 1 it orders as
negated Euclidean distance does: -|q - d|^2 = 2 q.d - 2.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from arena.encoders import ENCODERS, make_encoder
from arena.errors import CorpusError, DataError, clip
from arena.kit.files import sha256_json, write_json
from arena.kit.lazy import once
from arena.retrieval.base import (
    IndexInput,
    OpenedIndex,
    ParallelMap,
    Ranking,
    Request,
    Retriever,
    Scope,
    retriever,
)
from arena.retrieval.dense import _ivf
from arena.retrieval.dense._build import Making, finish, write_vectors
from arena.retrieval.dense._codes import Codes, load_codes, write_codes
from arena.retrieval.dense._flat import (
    FlatSearch,
    RowRanking,
    RowRequest,
    Search,
    compile_loops,
    fastest,
)
from arena.retrieval.dense._vectors import (
    ENCODER,
    VECTORS,
    QueryVectors,
    load_vectors,
    read_description,
)

IVF_FROM = 1_000_000
"""Rows from which inverted lists are built and used by themselves."""


@retriever("dense")
class Dense(Retriever):
    """Nearest vectors before the cutoff, exact; inverted lists for large collections."""

    resumes: ClassVar[bool] = True
    runs_in_parallel: ClassVar[bool] = True
    unsafe_files: ClassVar[tuple[str, ...]] = (_ivf.IVF,)

    @classmethod
    def warm(cls) -> None:
        """Compile the search of one query and of several."""
        compile_loops()

    def __init__(
        self,
        directory: Path,
        *,
        search: Literal["auto", "flat", "ivf"] = "auto",
        probes: Annotated[int, Ge(1)] = _ivf.PROBES,
        device: str = "auto",
        cache: Annotated[int, Ge(0)] = 10_000,
        model: str | None = None,
    ) -> None:
        """Open the index in `directory`, memory-mapped. The encoder is loaded by the first query.

        Args:
            directory: Directory that `build` wrote into.
            search: ``"flat"`` is exact; ``"ivf"`` reads inverted lists where they can serve;
                ``"auto"`` does so for scopes of at least `IVF_FROM` papers, if there are lists.
            probes: Number of inverted lists that a search reads, >= 1.
            device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"`` for search and encoder; ``"auto"`` is
                CUDA where torch can use it. Given the vector of a query, it changes no score.
            cache: Number of query vectors to keep, >= 0.
            model: Present folder of the model, if the index was built with one that has moved.
        """
        if device.partition(":")[0] not in ("auto", "cpu", "cuda"):
            raise DataError(f"device={clip(device)}: give auto, cpu, cuda or cuda:1.")
        self._opened = OpenedIndex(directory, VECTORS)
        description = read_description(directory)
        self._directory, self._search, self._probes = directory, search, probes
        self._device, self._process = device, os.getpid()
        self._lists: dict[str, int] | None = description["ivf"]
        if search == "ivf" and self._lists is None:
            raise DataError(
                f"search='ivf': the index in {str(directory)!r} was built without inverted lists. "
                "Build it again with --option ivf=true."
            )
        self._vectors, self._documents = load_vectors(directory, description["dimension"])
        self._codes = load_codes(directory, self._vectors.shape)
        self.documents = int(self._documents[-1]) + 1 if len(self._documents) else 0
        self._opened.require_same_file()
        self._queries = QueryVectors(directory, description, device, model, cache)
        self.helpers = (self._queries.kind,)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, and the encoder."""
        return {
            "search": self._search,
            "probes": self._probes if self._lists and self._search != "flat" else None,
            "encoder": self._queries.config,
        }

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        *,
        encoder: str = "static",
        ivf: bool | Literal["auto"] = "auto",
        lists: Annotated[int, Ge(1)] = _ivf.LISTS,
        training: int = _ivf.TRAINING,
        parallel: ParallelMap | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Encode the searchable papers of `source`; continue what a killed build left.

        The first arguments are those of `Retriever.build`, further `options` those of the encoder.
        If `ivf` (``"auto"``: from `IVF_FROM` papers on), inverted lists are made from the
        `training` oldest papers, at least `lists`. The number of `lists`, >= 1, must not follow the
        size of the corpus, which is of the future. `parallel` runs the encoding in other processes.
        """
        if training < lists:
            raise DataError(f"training={training}: give an integer >= {lists}, the lists.")
        encoder = ENCODERS.resolve(encoder)
        made = make_encoder(encoder, options)
        kept = {name: value for name, value in options.items() if name != "device"}
        identity = {"encoder": encoder, "options": kept, "config": made.config}
        rows = int(source.searchable_before[-1])
        with_lists = ivf is True or (ivf == "auto" and rows >= IVF_FROM)
        parameters = {"lists": lists, "training": training} if with_lists else None
        if parameters:
            _ivf.load_faiss()
        how = Making(encoder, json.dumps(options), made.dimension, sha256_json(made.config))
        blank = write_vectors(source, directory, fields, progress, how, identity, parallel)
        write_codes(directory, load_vectors(directory, made.dimension)[0])
        described = {
            **identity, "dimension": made.dimension, "fields": list(fields), "ivf": parameters,
        }  # fmt: skip
        write_json(directory / ENCODER, described)
        recall = None
        if parameters and rows > training:
            recall = _ivf.build_lists(directory, made.dimension, **parameters, progress=progress)
        finish(directory)
        return {
            "fields": list(fields),
            "encoder": {"name": encoder, **made.config},
            "documents": rows,
            "blank": blank,
            "dimension": made.dimension,
            "ivf": parameters and {**parameters, "probes": _ivf.PROBES, "recall@100": recall},
        }

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return the `k` documents of each scope whose vectors are nearest to the query's.

        Every document of the scope is a hit, however far. A blank query, or one in which the
        encoder finds nothing, has none. Cost: reading the codes before the end of the scope
        once, or the vectors once for 128 requests.
        """
        if requests and requests[0].scope.window is not None:
            return self._in_window(requests, *requests[0].scope.window)
        rankings: list[RowRanking | None] = [None] * len(requests)
        flat: list[tuple[int, RowRequest]] = []
        for i, request in enumerate(requests):
            if (in_rows := self._in_rows(*request)) is not None:
                rankings[i] = self._by_lists(in_rows)
                if rankings[i] is None:
                    flat.append((i, in_rows))
        if flat:
            # A forked process cannot use the GPU of its parent.
            search = self._fastest if os.getpid() == self._process else self._flat.search
            exact = search([in_rows for _, in_rows in flat])
            for (i, _), ranking in zip(flat, exact, strict=True):
                rankings[i] = ranking
        return [self._in_documents(ranking) for ranking in rankings]

    def prepared(self, query: str) -> Any:
        """Return the vector of a query; the query itself, if there is none."""
        vector = self._queries.get(query)
        return query if vector is None else vector

    def _in_window(self, requests: Sequence[Request], first: int, last: int) -> list[Ranking]:
        """Search the rows of a window as if there were no others; always flat."""
        low, high = self._row(first), self._row(last)
        asked: dict[int, RowRequest] = {}
        for i, (query, k, scope) in enumerate(requests):
            whole = self._in_rows(query, k, scope)
            if whole is not None and (end := min(whole.end, high)) > low:
                excluded = whole.excluded[(whole.excluded >= low) & (whole.excluded < end)] - low
                if size := min(whole.k, end - low - len(excluded)):
                    asked[i] = RowRequest(whole.query, size, end - low, excluded)
        codes = Codes(self._codes.codes[low:high], self._codes.bounds[low:high])
        found = FlatSearch(self._vectors[low:high], codes).search(list(asked.values()))
        rankings = dict(zip(asked, found, strict=True))
        return [
            self._in_documents(rankings[i]._replace(rows=rankings[i].rows + low))
            if i in rankings
            else self._in_documents(None)
            for i in range(len(requests))
        ]

    def _in_rows(self, query: Any, k: int, scope: Scope) -> RowRequest | None:
        """Translate a request from documents to rows; None if nothing can match."""
        if k <= 0 or (end := self._row(scope.end)) == 0:
            return None
        rows = [self._row(d) for d in scope.excluded if self._row(d) < self._row(d + 1)]
        excluded = np.array([row for row in rows if row < end], np.int64)
        k = min(k, end - len(excluded))
        if k > 0 and not isinstance(query, str):
            return RowRequest(query, k, end, excluded)  # prepared
        vector = self._queries.get(query) if k > 0 else None
        return None if vector is None else RowRequest(vector, k, end, excluded)

    def _row(self, document: int) -> int:
        """Return how many rows are of documents below this one."""
        if document >= 2**32:
            return len(self._documents)
        return int(np.searchsorted(self._documents, np.uint32(max(document, 0))))

    def _by_lists(self, request: RowRequest) -> RowRanking | None:
        """Return the ranking of the inverted lists, or None where the search must be flat."""
        lists = self._lists
        if lists is None or self._search == "flat" or request.end <= lists["training"]:
            return None
        few = self._search == "auto" and request.end < IVF_FROM
        if few or not self._inverted.serves(request):
            return None
        ranking = self._inverted.search(request)
        return ranking if len(ranking.rows) == request.k else None

    def _in_documents(self, ranking: RowRanking | None) -> Ranking:
        if ranking is None:
            return Ranking(np.empty(0, np.int64), np.empty(0))
        return Ranking(self._documents[ranking.rows].astype(np.int64), ranking.scores)

    @once
    def _flat(self) -> FlatSearch:
        return FlatSearch(self._vectors, self._codes)

    @once
    def _inverted(self) -> _ivf.IVFSearch:
        assert self._lists is not None
        shape, training = self._vectors.shape, self._lists["training"]
        try:
            lists = _ivf.IVFSearch(self._directory, self._flat, shape, training, self._probes)
        except CorpusError:
            self._opened.require_same_file()  # it says why
            raise
        self._opened.require_same_file()
        return lists

    @once
    def _fastest(self) -> Search:
        return fastest(self._vectors, self._flat, self._device)
