"""Search on the machines of a Ray cluster, with the hits and scores of one machine, to the bit.

The documents are cut into ranges, one a shard. A shard is an actor that maps the index from a file
system that all machines share, and reads of the lists what lies in its range. The statistics of
the day count the whole lists up to the cutoff, whose places are looked up and not read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt

from arena.errors import ArenaError, DataError, WorkerError, clip
from arena.kit.files import sha256_file
from arena.kit.lazy import once, require
from arena.plugins import load, loaded_files
from arena.retrieval.base import RETRIEVERS, Combiner, Ranking, Request, Retriever, Scope, retriever
from arena_engines.cluster import check_same, connected, versions

_MANIFEST = "manifest.json"
DISTRIBUTIONS = ("numba", "numpy", "PyStemmer")
"""Distributions whose version can change a score."""
_RETRIES = 2  # of a search whose shard was lost


@retriever("ray")
class RayRetriever(Combiner):
    """Another engine's search on the machines of a Ray cluster, named as in ray(bm25)."""

    example: ClassVar[str] = "bm25"

    def __init__(
        self,
        parts: Mapping[str, Retriever],
        *,
        shards: Annotated[int, Ge(1)] | None = None,
        seconds: Annotated[float, Gt(0)] = 60.0,
    ) -> None:
        """Join the cluster at the first search.

        Args:
            parts: The engine, one that searches a part of its documents: bm25, dense, gpu(dense).
            shards: Number of ranges; as many as the cluster has processors by default, or GPUs for
                gpu(dense), which they share. It changes no hit and no score.
            seconds: Time after which a search that has no answer is an error.
        """
        self.parts = tuple(parts.values())
        self._name, *more = parts
        engine = self.parts[0]
        if more or engine.documents is None or engine.opened is None:
            raise DataError(
                f"ray({', '.join(parts)}): it searches one engine that can search a part of its "
                "documents, such as ray(bm25) or ray(dense); hybrid(ray(bm25),ray(dense)) is their "
                "fusion."
            )
        require("the retriever ray", "ray")
        self._engine, self._shards, self._seconds = engine, shards, seconds

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking: those of the engine."""
        return {self._name: self._engine.config}

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what the engine returns; each shard before the last cutoff gets one message.

        Raises:
            WorkerError: if no cluster answers, or a shard does not, which is named.
        """
        asked = [
            (self._engine.prepared(query), k, (scope.end, scope.excluded))
            for query, k, scope in requests
        ]
        found = self._cluster.search(asked, self._seconds)
        return [
            _merged([ranking for ranking in rankings if ranking is not None], k)
            for (_, k, _), rankings in zip(asked, found, strict=True)
        ]

    @once
    def _cluster(self) -> _Cluster:
        return _Cluster(self._engine, self._shards)


class _Cluster:
    """The shards of an engine, which end with this object."""

    def __init__(self, engine: Retriever, shards: int | None) -> None:
        self._ray, self._process = connected(), os.getpid()
        resource = getattr(engine, "resource", "CPU")
        there = int(self._ray.cluster_resources().get(resource, 0))
        count = shards or max(1, there)
        assert engine.opened is not None
        assert engine.documents is not None
        directory, options = engine.opened
        bounds = [engine.documents * i // count for i in range(count + 1)]
        self._windows = list(pairwise(bounds))
        known = versions(*DISTRIBUTIONS) | {"index": sha256_file(directory / _MANIFEST)}
        actor = self._ray.remote(
            num_cpus=0,  # more shards than processors take turns
            num_gpus=1 / -(-count // there) if there and resource == "GPU" else 0,
            max_restarts=-1,
            max_task_retries=_RETRIES,
            scheduling_strategy="SPREAD",
        )(Shard)
        given = (engine.registered_name(), str(directory.resolve()), options, loaded_files())
        self._actors = [actor.remote(*given, window, known) for window in self._windows]

    def search(self, asked: list[Any], seconds: float) -> list[list[Ranking | None]]:
        """Return the ranking of each shard for each search; None where all of it is too late."""
        if self._process != os.getpid():
            raise WorkerError(
                "this process was forked after it joined the Ray cluster, which Ray does not "
                "survive. Open the corpus after the fork."
            )
        exceptions = self._ray.exceptions
        found: list[list[Ranking | None]] = [[None] * len(self._actors) for _ in asked]
        waiting = []
        for number, (actor, (first, _)) in enumerate(zip(self._actors, self._windows, strict=True)):
            places = [i for i, (_, k, (end, _)) in enumerate(asked) if k > 0 and end > first]
            if places:
                message = actor.search.remote([asked[i] for i in places])
                waiting.append((number, places, message))
        for number, places, message in waiting:
            try:
                rankings = self._ray.get(message, timeout=seconds)
            except exceptions.RayTaskError as error:
                if isinstance(error.cause, ArenaError):
                    raise error.cause from None
                raise self._lost(number, str(error).strip().splitlines()[-1]) from None
            except exceptions.GetTimeoutError:
                why = f"it has not answered within {seconds:g} s; look at `ray status`"
                raise self._lost(number, why) from None
            except exceptions.RayError as error:
                raise self._lost(number, f"{type(error).__name__}") from None
            for i, ranking in zip(places, rankings, strict=True):
                found[i][number] = ranking
        return found

    def _lost(self, number: int, why: str) -> WorkerError:
        first, end = self._windows[number]
        return WorkerError(
            f"shard {number + 1} of {len(self._actors)} (documents {first} to {end - 1}) cannot be "
            f"searched on the Ray cluster: {clip(why, 300)}."
        )


class Shard:
    """A range of documents, opened by its first search.

    `known` is what its machine must have, `files` are the plug-ins to load.
    """

    def __init__(
        self,
        engine: str,
        directory: str,
        options: dict[str, Any],
        files: list[str],
        window: tuple[int, int],
        known: dict[str, str],
    ) -> None:
        self._given = engine, directory, options, files
        self._window, self._known = window, known
        self._engine: Retriever | None = None

    def search(self, asked: list[Any]) -> list[Ranking]:
        """Return the best of the window for each (query, k, (end, excluded))."""
        self._engine = self._engine or self._opened()
        return self._engine.search_batch(
            [Request(query, k, Scope(end, out, self._window)) for query, k, (end, out) in asked]
        )

    def _opened(self) -> Retriever:
        engine, directory, options, files = self._given
        path = Path(directory, _MANIFEST)
        index = sha256_file(path) if path.is_file() else "none"
        here = versions(*DISTRIBUTIONS) | {"index": index}
        check_same(self._known, here, f" in {directory!r}")
        load(files)
        return RETRIEVERS.get(engine).open(Path(directory), **options)


def _merged(rankings: list[Ranking], k: int) -> Ranking:
    """Return the `k` best of rankings of different documents."""
    if not rankings:
        return Ranking(np.empty(0, np.int64), np.empty(0))
    documents, scores = (np.concatenate(column) for column in zip(*rankings, strict=True))
    order = np.lexsort((documents, -scores))[:k]
    return Ranking(documents[order], scores[order])
