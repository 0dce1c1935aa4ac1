"""The engine ``ivf``: dense vectors by faiss's inverted lists, with nothing of the future in them.

Centroids and the ranges of the quantiser come from the oldest rows alone, as many as the option
`training` says; the lists have every row in order, and a search reads each list up to the end of
its scope. So adding later rows changes no result. Which rows are candidates is approximate, their
scores are exact. It pays from about a million papers on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from arena.errors import CorpusError, DataError, clip
from arena.kit.files import read_json, schema_error, write_json
from arena.kit.lazy import load, once
from arena.kit.process import one_thread
from arena.retrieval.base import IndexInput, ParallelMap, retriever
from arena.retrieval.dense import (
    Dense,
    FlatSearch,
    RowRanking,
    RowRequest,
    best,
    build_index,
    load_codes,
    load_vectors,
)

IVF = "ivf.faiss"
DESCRIPTION = "ivf.json"
LISTS = 4096
TRAINING = 262_144
PROBES = 256

_CANDIDATES = 2  # times k: the quantised order is rescored
_BLOCK_ROWS = 32_768
_QUERIES = 100  # by which recall is measured,
_DEPTH = 100  # so many ranks deep,
_SHARES = (10, 50, 100)  # in these shares of all rows, per cent


@retriever("ivf")
class InvertedLists(Dense):
    """Nearest vectors by inverted lists of faiss: approximate, with exact scores."""

    unsafe_files: ClassVar[tuple[str, ...]] = (IVF,)

    def __init__(
        self,
        directory: Path,
        *,
        probes: Annotated[int, Ge(1)] = PROBES,
        device: str = "auto",
        cache: Annotated[int, Ge(0)] = 10_000,
        model: str | None = None,
    ) -> None:
        """Open the index in `directory`; its lists are opened by the first search.

        Args:
            directory: Directory that `build` wrote into.
            probes: Number of inverted lists that a search reads, >= 1.
            device: As of `Dense`.
            cache: As of `Dense`.
            model: As of `Dense`.
        """
        super().__init__(directory, device=device, cache=cache, model=model)
        self._place, self._probes = directory, probes
        try:
            described = read_json(directory / DESCRIPTION)
            why = schema_error(described, {"training": int})
        except ValueError as error:
            why = clip(str(error))
        if why is not None:
            where = str(directory / DESCRIPTION)
            raise CorpusError(f"{where!r} is missing or damaged: {why}. Build the index again.")
        self._training = described["training"]

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, and the encoder."""
        return {**super().config, "probes": self._probes}

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        *,
        encoder: str = "static",
        lists: Annotated[int, Ge(1)] = LISTS,
        training: int = TRAINING,
        parallel: ParallelMap | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Encode the searchable papers of `source`, and make inverted lists of their vectors.

        The lists, >= 1, are made from the `training` oldest papers. Their number must not follow
        the size of the corpus, which is of the future. Scopes within those papers are searched
        exactly.
        """
        if training < lists:
            raise DataError(f"training={training}: give an integer >= {lists}, the lists.")
        load_faiss()
        recall = None

        def then(dimension: int) -> None:
            nonlocal recall
            write_json(directory / DESCRIPTION, {"lists": lists, "training": training})
            if int(source.searchable_before[-1]) > training:
                recall = build_lists(directory, dimension, lists, training, progress)

        made = build_index(source, directory, fields, progress, encoder, options, parallel, then)
        of_lists = {"lists": lists, "training": training, "probes": PROBES, "recall@100": recall}
        return {**made, "ivf": of_lists}

    def search_rows(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the nearest rows, by the lists where they can serve, exact elsewhere."""
        found = [self._by_lists(request) for request in requests]
        rest = iter(
            super().search_rows([r for r, by in zip(requests, found, strict=True) if by is None])
        )
        return [next(rest) if by is None else by for by in found]

    def _by_lists(self, request: RowRequest) -> RowRanking | None:
        if request.end <= self._training or not self._inverted.serves(request):
            return None
        ranking = self._inverted.search(request)
        return ranking if len(ranking.rows) == request.k else None

    @once
    def _inverted(self) -> IVFSearch:
        shape = self.vectors.shape
        try:
            lists = IVFSearch(self._place, self.flat, shape, self._training, self._probes)
        except CorpusError:
            self.require_same_file()  # it says why
            raise
        self.require_same_file()
        return lists


def build(
    vectors: NDArray[np.float16],
    directory: Path,
    lists: int,
    training: int,
    progress: Callable[..., Any],
) -> None:
    """Train on the first `training` rows, add all rows, write the file."""
    faiss = load_faiss()
    dimension = vectors.shape[1]
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.cp.spherical = True
    with one_thread(always=True):  # so that the number of threads cannot show in the file
        index.train(vectors[:training].astype(np.float32))
        lows = range(0, len(vectors), _BLOCK_ROWS)
        for low in progress(lows, total=len(lows), desc="inverted lists", unit="block"):
            index.add(vectors[low : low + _BLOCK_ROWS].astype(np.float32))
    # Through a Python file: its errors, such as a full disk, are raised and not printed.
    with (directory / IVF).open("wb") as file:
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))


def load_faiss() -> Any:
    """Import faiss; DataError if it is not installed."""
    return load("faiss", "the engine ivf (dense does without)")


class IVFSearch:
    """Inverted lists, opened; they stay on the disk, mapped."""

    def __init__(
        self, directory: Path, flat: FlatSearch, shape: tuple[int, int], training: int, probes: int
    ) -> None:
        self._faiss = load_faiss()
        path = directory / IVF
        try:
            self._index = self._faiss.read_index(str(path), self._faiss.IO_FLAG_MMAP)
        except RuntimeError as error:
            raise CorpusError(
                f"{str(path)!r} is damaged: {clip(str(error), 200)}. Build the index again."
            ) from None
        if (self._index.ntotal, self._index.d) != shape:
            raise CorpusError(
                f"{str(path)!r} has {self._index.ntotal} vectors of {self._index.d} dimensions, "
                f"the index {shape[0]} of {shape[1]}. Build the index again."
            )
        # By default it keeps threads that read ahead, without which a forked process crashes.
        self._faiss.downcast_InvertedLists(self._index.invlists).prefetch_nthread = 0
        self._flat, self._training = flat, training
        self._probes = min(probes, self._index.nlist)

    def serves(self, request: RowRequest) -> bool:
        """Return whether the lists can serve a search.

        Rows that trained the lists are no sample of what came later, so a scope that ends among
        them is searched flat; so is one where the lists have little more than the request wants.
        Neither depends on rows after the scope.
        """
        read = request.end * self._probes / self._index.nlist
        return request.end > self._training and self._candidates(request) * 4 <= read

    def search(self, request: RowRequest) -> RowRanking:
        """Return the best of the rows in the nearest lists; fewer if they have fewer."""
        faiss = self._faiss
        selector = faiss.IDSelectorRange(0, request.end, True)
        parameters = faiss.SearchParametersIVF(sel=selector, nprobe=self._probes)
        query = request.query.astype(np.float32)[None]
        with one_thread(always=True):  # a pool of threads would not survive a fork
            _, ids = self._index.search(query, self._candidates(request), params=parameters)
        ids = ids[(ids >= 0) & (ids < request.end)]
        rows = np.setdiff1d(ids, request.excluded, assume_unique=True)
        return best(rows, self._flat.exact(request.query, rows), request.k)

    @staticmethod
    def _candidates(request: RowRequest) -> int:
        return _CANDIDATES * request.k + len(request.excluded)


def build_lists(
    directory: Path, dimension: int, lists: int, training: int, progress: Callable[..., Any]
) -> dict[str, float | None]:
    """Write the lists of the vectors in `directory`; return recall@100 by the share of all rows.

    It is None where search is flat anyway. The queries are 100 rows spread evenly over all, the
    same ones for each share. A hit is a row whose score reaches that of the exact hundredth, so
    that equal rows count alike.
    """
    vectors, _ = load_vectors(directory, dimension)
    build(vectors, directory, lists, training, progress)
    flat = FlatSearch(vectors, load_codes(directory, vectors.shape))
    ivf = IVFSearch(directory, flat, vectors.shape, training, PROBES)
    rows = len(vectors)
    queries = vectors[np.linspace(0, rows - 1, min(_QUERIES, rows)).astype(np.int64)]
    queries = queries[queries.any(axis=1)]
    none = np.empty(0, np.int64)
    recall: dict[str, float | None] = {}
    for share in progress(_SHARES, total=len(_SHARES), desc="recall of the lists", unit="share"):
        end = rows * share // 100
        requests = [RowRequest(query, min(_DEPTH, end), end, none) for query in queries]
        if not requests or not end or not ivf.serves(requests[0]):
            recall[f"{share}%"] = None
            continue
        hits: list[Any] = [
            np.count_nonzero(ivf.search(request).scores >= exact.scores[-1]) / request.k
            for request, exact in zip(requests, flat.search(requests), strict=True)
        ]
        recall[f"{share}%"] = round(float(np.mean(hits)), 4)
    return recall
