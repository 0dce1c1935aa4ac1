"""Time ``/retrieve`` beside the searches behind it."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import requests

import arena
from benchmarks.report import Clock, Results, check_range, head, queries_of, serving, table


def measure(
    *,
    corpus: str,
    retriever: str = "bm25",
    batch: int = 64,
    topk: int = 3,
    repeats: int = 50,
    warm: int = 20,
) -> Results:
    """Time /retrieve beside the searches behind it.

    A client asks a server in a process of its own. Each repetition has queries that nothing has
    searched before, and asks twice: the second time the server has the texts of the papers at
    hand, as it has after a while of training.

    Args:
        corpus (DIR): A built corpus.
        retriever (NAME): An engine of the corpus.
        batch: Queries of a request.
        topk: Papers of a query.
        repeats: How often each is timed; medians count.
        warm: Requests before the clock starts.

    Returns:
        ``corpus`` (its hash); ``seconds``, those of each repetition for ``search_batch`` in this
        process and ``/retrieve`` until the last byte is there, each for new queries and ``again``;
        and ``cpu``, the seconds a batch of processors' time, which other programs do not lengthen:
        ``search_batch``, ``server`` and ``client``.

    Raises:
        DataError: If a setting is out of its range, or the server does not start.
        CorpusError, UnknownNameError: If the corpus or the engine cannot be used.
    """
    check_range(1, 4096, batch=batch, repeats=repeats)
    check_range(1, 1000, topk=topk)
    check_range(0, 2**31, warm=warm)
    opened = arena.Corpus.open(corpus)
    view, fresh = opened.at("9999", retriever=retriever), queries_of(opened)
    seconds: dict[str, list[float]] = {}
    cpu = dict.fromkeys(("search_batch", "client", "server"), 0.0)
    words = ["retrieve", "--before", "9999", "--topk", str(topk)]
    with serving(opened, retriever, words) as (url, process), requests.Session() as client:
        for number in range(warm + repeats):
            if number == warm:
                seconds, cpu, before = {}, dict.fromkeys(cpu, 0.0), cpu_of(process)
            queries = [next(fresh) for _ in range(batch)]
            searches = [(view, query, topk) for query in queries]
            body: Any = {"queries": queries, "return_scores": True}
            for end in ("", " again"):
                with Clock() as clock:
                    arena.search_batch(searches)
                seconds.setdefault(f"search_batch{end}", []).append(clock.wall)
                cpu["search_batch"] += clock.cpu
                with Clock() as clock:
                    answer = client.post(url, json=body)
                seconds.setdefault(f"/retrieve{end}", []).append(clock.wall)
                cpu["client"] += clock.cpu
                assert len(answer.json()["result"]) == len(queries)
        cpu["server"] = cpu_of(process) - before
    return {
        "corpus": opened.sha256,
        "seconds": seconds,
        "cpu": {name: took / 2 / repeats for name, took in cpu.items()},
    }


def cpu_of(process: int) -> float:
    """Return the CPU seconds that a process has used; on Linux."""
    after_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    user, system = map(int, after_name.split()[11:13])  # utime and stime of proc(5)
    return (user + system) / os.sysconf("SC_CLK_TCK")


def show(results: Results) -> str:
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
    return f"{head(results)}\n\n{table(title, ('a batch', 'ms', 'ratio'), rows)}"
