"""Time ``/retrieve`` beside the searches behind it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import requests

import arena
from arena.corpus.store import CorpusStore
from arena.errors import DataError
from benchmarks.environments import queries_of
from benchmarks.report import check_range, machine, table


class DoorSettings(NamedTuple):
    """What is measured.

    Attributes:
        retriever: An engine of the corpus.
        before: First day out of reach.
        batch: Queries of a request.
        topk: Papers of a query.
        repeats: How often each is timed; medians count.
        warm: Requests before the clock starts.
        seed: Of the queries.
    """

    retriever: str = "bm25"
    before: str = "9999"
    batch: int = 64
    topk: int = 3
    repeats: int = 50
    warm: int = 20
    seed: int = 0


def measure(directory: Path | str, settings: DoorSettings) -> dict[str, Any]:
    """Time requests of a client to a server in a process of its own, and the same searches.

    Each repetition has queries that nothing has searched before.

    Args:
        directory: Directory of a built corpus.
        settings: What is measured.

    Returns:
        ``settings``, ``machine``, ``corpus`` (its hash) and ``seconds``: those of each repetition,
        for ``search_batch`` in this process, ``/retrieve`` until the last byte is there, and
        ``/retrieve, parsed`` until its JSON is read.

    Raises:
        DataError: If a setting is out of its range, or the server does not start.
        CorpusError, UnknownNameError: If the corpus or the engine cannot be used.
    """
    check_range(1, 4096, batch=settings.batch, repeats=settings.repeats)
    check_range(1, 1000, topk=settings.topk)
    check_range(0, 2**31, warm=settings.warm, seed=settings.seed)
    corpus = arena.Corpus.open(directory)
    view = corpus.at(settings.before, retriever=settings.retriever)
    queries = queries_of(CorpusStore(corpus.directory), settings.seed)
    seconds: dict[str, list[float]] = {"search_batch": [], "/retrieve": [], "/retrieve, parsed": []}
    command = [sys.executable, "-m", "arena.cli", "serve", "retrieve", "--port", "0"]
    command += ["--corpus", str(corpus.directory), "--before", settings.before]
    command += ["--retriever", settings.retriever, "--topk", str(settings.topk)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            words = server.stdout.readline().split()
            if not words:
                raise DataError("the server did not start; its message stands above.")
            with requests.Session() as client:
                for number in range(settings.warm + settings.repeats):
                    batch = [next(queries) for _ in range(settings.batch)]
                    times = _time(view, client, words[2], batch, settings.topk, number % 2 == 0)
                    if number >= settings.warm:
                        for name, took in times.items():
                            seconds[name].append(took)
        finally:
            server.terminate()
    return {"settings": settings._asdict(), "machine": machine(), "corpus": corpus.sha256,
            "seconds": seconds}  # fmt: skip


def _time(
    view: arena.CorpusView, client: Any, url: str, queries: list[str], topk: int, first: bool
) -> dict[str, float]:
    times: dict[str, float] = {}

    def search() -> None:
        started = time.perf_counter()
        arena.search_batch([(view, query, topk) for query in queries])
        times["search_batch"] = time.perf_counter() - started

    def ask() -> None:
        started = time.perf_counter()
        answer = client.post(url, json={"queries": queries, "return_scores": True})
        times["/retrieve"] = time.perf_counter() - started
        assert len(answer.json()["result"]) == len(queries)
        times["/retrieve, parsed"] = time.perf_counter() - started

    both: list[Callable[[], None]] = [search, ask]
    for each in both if first else both[::-1]:  # neither always has the warm caches
        each()
    return times


def show(results: dict[str, Any]) -> str:
    """Return a table of what `measure` returned; ``ratio`` is to ``search_batch``."""
    settings, seconds = results["settings"], results["seconds"]
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    rows = [[name, 1e3 * took, took / medians["search_batch"]] for name, took in medians.items()]
    title = (
        f"{settings['batch']} queries, {settings['retriever']}, topk={settings['topk']}: medians "
        f"of {settings['repeats']}"
    )
    head = f"{results['machine']}; corpus {results['corpus'][:12]}"
    return "\n\n".join([head, table(title, ("a batch", "ms", "ratio"), rows)])
