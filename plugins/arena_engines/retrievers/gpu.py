"""Dense search on a GPU, with the hits and scores of the CPU, to the bit; see `device.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from arena.errors import DataError
from arena.kit.lazy import once, require
from arena.retrieval.base import Combiner, Ranking, Request, Retriever, retriever
from arena.retrieval.dense import Dense
from arena_engines.device import DeviceSearch
from arena_engines.encoders.flag import resolve_device


@retriever("gpu")
class GpuRetriever(Combiner):
    """Exact dense search on a GPU, named as in gpu(dense)."""

    example: ClassVar[str] = "dense"

    def __init__(
        self,
        parts: Mapping[str, Retriever],
        *,
        device: str = "auto",
        memory: Annotated[float, Ge(0)] | None = None,
        threads: Annotated[int, Ge(1)] | None = None,
    ) -> None:
        """Copy the vectors to the device at the first search.

        Args:
            parts: The engine, an index of dense. None of the options changes a hit or a score.
            device: ``"auto"`` (CUDA if there is one, else the CPU), ``"cpu"``, ``"cuda"``,
                ``"cuda:1"``, ``"mps"``.
            memory: GB of vectors that stay on the device; by default three quarters of what is free
                on a GPU. Each batch of searches copies the others anew.
            threads: Threads that score candidates on the host; as many as there are processors by
                default, and at most 16.
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
        self._bytes, self._threads = None if memory is None else memory * 1e9, threads
        self.helpers = (DeviceSearch,)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking: those of the engine."""
        return {self._name: self._engine.config}

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what the engine returns; the vectors are read once for up to 2,048 requests.

        Raises:
            WorkerError: as `DeviceSearch.search`.
        """
        return self._engine.rank(requests, self._search.search)

    @once
    def _search(self) -> DeviceSearch:
        engine = self._engine
        return DeviceSearch(engine.flat, engine.vectors, self._device, self._bytes, self._threads)
