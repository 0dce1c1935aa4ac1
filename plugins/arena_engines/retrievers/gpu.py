"""Dense search on a GPU, with the hits and scores of the CPU, to the bit; see `device.py`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, WorkerError, clip
from arena.kit.lazy import require
from arena.retrieval.base import Combiner, Ranking, Request, Retriever, retriever
from arena.retrieval.dense import Dense
from arena_engines.device import DeviceSearch
from arena_engines.encoders.flag import resolve_device


@retriever("gpu")
class GpuRetriever(Combiner):
    """Exact dense search on a GPU, named as in gpu(dense)."""

    example: ClassVar[str] = "dense"
    resource: ClassVar[str] = "GPU"

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
        self._held: dict[tuple[int, int] | None, DeviceSearch] = {}
        self._holding = threading.Lock()
        self.helpers = (DeviceSearch,)
        self.documents = engine.documents
        if engine.opened:
            directory, options = engine.opened
            self.opened = directory, {"device": device, "dense": options}

    @classmethod
    def open(cls, directory: Path, /, **options: Any) -> Retriever:
        """Open the engine, too, whose options are under `dense`."""
        return cls.combine({"dense": Dense.open(directory, **options.pop("dense", {}))}, **options)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking: those of the engine."""
        return {self._name: self._engine.config}

    def prepared(self, query: str) -> Any:
        """Return what the engine makes of a query."""
        return self._engine.prepared(query)

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what the engine returns; WorkerError if the device fails or is not exact."""
        try:
            return self._engine.rank(requests, self._searching)
        except RuntimeError as error:  # torch's, of memory, of a driver, or after a fork
            raise WorkerError(
                f"cannot search on {self._device}: {clip(str(error), 200)}. Free its memory, open "
                "the corpus after a fork, or search with dense itself."
            ) from error

    def _searching(self, window: tuple[int, int] | None) -> Any:
        with self._holding:  # a window is that of a shard of `ray`, always the same
            if window not in self._held:
                low, high = window or (0, len(self._engine.vectors))
                flat, vectors = self._engine.flat_of(low, high), self._engine.vectors[low:high]
                self._held = {window: DeviceSearch(flat, vectors, self._device)}
            return self._held[window].search
