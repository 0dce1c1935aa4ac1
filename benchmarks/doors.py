"""Time ``/retrieve`` beside the searches behind it."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import requests

import arena
from arena.corpus.store import CorpusStore
from arena.errors import DataError
from benchmarks.environments import queries_of
from benchmarks.report import Clock, check_range, machine, table


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

    Each repetition has queries that nothing has searched before, and asks twice: the second time
    the server has the texts of the papers at hand, as it has after a while of training.

    Args:
        directory: Directory of a built corpus.
        settings: What is measured.

    Returns:
        ``settings``, ``machine``, ``corpus`` (its hash); ``seconds``, those of each repetition for
        ``search_batch`` in this process and ``/retrieve`` until the last byte is there, each for
        new queries and ``again``; and ``cpu``, the seconds a batch of processors' time, which
        other programs do not lengthen: ``search_batch``, ``server`` and ``client``.

    Raises:
        DataError: If a setting is out of its range, or the server does not start.
        CorpusError, UnknownNameError: If the corpus or the engine cannot be used.
    """
    check_range(1, 4096, batch=settings.batch, repeats=settings.repeats)
    check_range(1, 1000, topk=settings.topk)
    check_range(0, 2**31, warm=settings.warm, seed=settings.seed)
    corpus = arena.Corpus.open(directory)
    view = corpus.at(settings.before, retriever=settings.retriever)
    fresh = queries_of(CorpusStore(corpus.directory), settings.seed)
    seconds: dict[str, list[float]] = {}
    cpu = dict.fromkeys(("search_batch", "client", "server"), 0.0)
    command = [sys.executable, "-m", "arena.cli", "serve", "retrieve", "--port", "0"]
    command += ["--corpus", str(corpus.directory), "--before", settings.before]
    command += ["--retriever", settings.retriever, "--topk", str(settings.topk)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            words = server.stdout.readline().split()
            if not words:
                raise DataError("the server did not start; its message stands above.")
            process = psutil.Process(server.pid)
            with requests.Session() as client:
                for number in range(settings.warm + settings.repeats):
                    if number == settings.warm:
                        seconds, cpu, before = {}, dict.fromkeys(cpu, 0.0), _cpu(process)
                    queries = [next(fresh) for _ in range(settings.batch)]
                    searches = [(view, query, settings.topk) for query in queries]
                    body: Any = {"queries": queries, "return_scores": True}
                    for end in ("", " again"):
                        with Clock() as clock:
                            arena.search_batch(searches)
                        seconds.setdefault(f"search_batch{end}", []).append(clock.wall)
                        cpu["search_batch"] += clock.cpu
                        with Clock() as clock:
                            answer = client.post(words[2], json=body)
                        seconds.setdefault(f"/retrieve{end}", []).append(clock.wall)
                        cpu["client"] += clock.cpu
                        assert len(answer.json()["result"]) == len(queries)
            cpu["server"] = _cpu(process) - before
        finally:
            server.terminate()
    return {
        "settings": settings._asdict(), "machine": machine(), "corpus": corpus.sha256,
        "seconds": seconds,
        "cpu": {name: took / 2 / settings.repeats for name, took in cpu.items()},
    }  # fmt: skip


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def show(results: dict[str, Any]) -> str:
    """Return a table of what `measure` returned; ``ratio`` is to ``search_batch``."""
    settings, seconds, cpu = (results[name] for name in ("settings", "seconds", "cpu"))
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    rows: list[list[Any]] = []
    for end in ("", " again"):
        alone = medians[f"search_batch{end}"]
        rows += [
            [name, 1e3 * medians[name], medians[name] / alone]
            for name in (f"search_batch{end}", f"/retrieve{end}")
        ]
    rows.append(["CPU of search_batch", 1e3 * cpu["search_batch"], 1.0])
    for name in ("server", "client"):
        rows.append([f"CPU of the {name}", 1e3 * cpu[name], cpu[name] / cpu["search_batch"]])
    title = (
        f"{settings['batch']} queries, {settings['retriever']}, topk={settings['topk']}: medians "
        f"of {settings['repeats']}, means of CPU"
    )
    head = f"{results['machine']}; corpus {results['corpus'][:12]}"
    return "\n\n".join([head, table(title, ("a batch", "ms", "ratio"), rows)])
