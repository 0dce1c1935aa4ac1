"""Dense search on a GPU, with the hits and scores of the CPU, to the bit; see `device.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from arena.errors import DataError, WorkerError, clip
from arena.kit.lazy import once, require
from arena.retrieval.base import Combiner, Ranking, Request, Retriever, retriever
from arena.retrieval.dense import Dense
from arena_engines.device import DeviceSearch
from arena_engines.encoders.flag import resolve_device


@retriever("gpu")
class GpuRetriever(Combiner):
    """Exact dense search on a GPU, named as in gpu(dense)."""

    example: ClassVar[str] = "dense"

    def __init__(self, parts: Mapping[str, Retriever], *, device: str = "auto") -> None:
        """Open the device at the first search; it changes no hit and no score.

        Args:
            parts: The engine, an index of dense.
            device: ``"auto"`` (CUDA if there is one, else the CPU), ``"cpu"``, ``"cuda"``,
                ``"cuda:1"``.
        """
        self.parts = tuple(parts.values())
        self._name, *more = parts
        engine = self.parts[0]
        if more or type(engine) is not Dense:
            raise DataError(
                f"gpu({', '.join(parts)}): it searches one index of the engine dense, as in "
                "gpu(dense); hybrid(bm25,gpu(dense)) is the fusion with another."
            )
        require("the retriever gpu", "torch")
        self._engine, self._device = engine, resolve_device(device)
        self.helpers = (DeviceSearch,)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking: those of the engine."""
        return {self._name: self._engine.config}

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what the engine returns; WorkerError if the device fails or is not exact."""
        try:
            return self._engine.rank(requests, self._search.search)
        except RuntimeError as error:  # torch's, of memory, of a driver, or after a fork
            raise WorkerError(
                f"cannot search on {self._device}: {clip(str(error), 200)}. Free its memory, open "
                "the corpus after a fork, or search with dense itself."
            ) from error

    @once
    def _search(self) -> DeviceSearch:
        engine = self._engine
        return DeviceSearch(engine.flat, engine.vectors, self._device)
