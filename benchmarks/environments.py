"""Time steps of environments, and ``/retrieve``, beside the searches behind them."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gymnasium
import requests

import arena
from arena._internal.process import block_sigint_in_children
from arena._internal.terminal import progress
from arena.errors import ArenaError
from arena.tasks import TaskSet
from benchmarks.report import Clock, Results, check_range, head, queries_of, serving, table

_ENVIRONMENT = "arena/Discovery-v0"
# So large that no episode ends while it is timed.
_BUDGET: dict[str, Any] = {"max_steps": 10**6, "max_searches": 10**6, "max_characters": 10**9}
_PROCESSES = 2

_Timed = Callable[[list[list[str]], int], float]
"""Makes searches for batches of queries, with a seed; returns the seconds that they took."""


def measure(
    *,
    corpus: str,
    retriever: str = "bm25",
    num_envs: int = 64,
    steps: int = 8192,
    rounds: int = 5,
    k: int = 13,
) -> Results:
    """Time searching steps of every kind of environment, and the same searches alone.

    Every round times all kinds, one after another, each with queries that nothing has searched
    before and with the cutoffs of surveys drawn for the round. No episode ends meanwhile.

    Args:
        corpus (DIR): A built corpus with a survey that can be scored.
        retriever (NAME): An engine of the corpus.
        num_envs: Environments in the largest vector, 1 to 1,000.
        steps: Steps of each kind in a round, rounded up to whole steps of a vector.
        rounds: Rounds that are timed; one before them is not.
        k: Hits of a search, 1 to 1,000.

    Returns:
        ``corpus`` (its hash), ``seconds`` (kind -> seconds a step or search in each round) and
        ``skipped`` (kind -> reason).
    """
    check_range(1, 1000, num_envs=num_envs, rounds=rounds, k=k)
    check_range(1, 10**6, steps=steps)
    opened = arena.Corpus.open(corpus)
    queries, skipped = queries_of(opened), dict[str, str]()
    with ExitStack() as stack:
        vectors = _vectors(opened, retriever, num_envs, k, stack)
        kinds = [*vectors, *_searches(opened, retriever, num_envs, k)]
        seconds: dict[str, list[float]] = {name: [] for name, _, _ in kinds}
        for number in progress(range(rounds + 1), desc="round", unit="round"):
            first = number % len(kinds)  # so that none always follows the same one
            for name, batch, timed in kinds[first:] + kinds[:first]:
                if name in skipped:
                    continue
                count = -(-steps // batch)
                batches = [[next(queries) for _ in range(batch)] for _ in range(count)]
                try:
                    took = timed(batches, number * num_envs)
                except ArenaError as error:  # as Java does in a forked process
                    skipped[name] = str(error)
                    continue
                if number:  # the first round compiles and warms up
                    seconds[name].append(took / (count * batch))
    timed_kinds = {name: times for name, times in seconds.items() if times}
    return {"corpus": opened.sha256, "seconds": timed_kinds, "skipped": skipped}


def _vectors(
    corpus: arena.Corpus, retriever: str, num_envs: int, k: int, stack: ExitStack
) -> Iterator[tuple[str, int, _Timed]]:
    """Yield (name, searches at a time, what times them) for each kind of environment."""
    options = {"corpus": corpus, "retriever": retriever, "max_k": 1000, **_BUDGET}

    def vector(num_envs: int, mode: str | None = None, **more: Any) -> Any:
        with block_sigint_in_children():
            made = gymnasium.make_vec(
                _ENVIRONMENT, num_envs, mode, vector_kwargs=more if mode else None, **options
            )
        # Gymnasium's processes might wait for ever for a step that was interrupted.
        stack.callback(made.close, **({"terminate": True} if mode == "async" else {}))
        return made

    def steps_of(env: Any) -> _Timed:
        def timed(batches: list[list[str]], seed: int) -> float:
            env.reset(seed=seed)
            actions: list[Any] = [
                [{"tool": "search", "arguments": {"query": query, "k": k}} for query in some]
                for some in batches
            ]
            if not isinstance(env, gymnasium.vector.VectorEnv):
                actions = [action for (action,) in actions]
            started = time.perf_counter()
            for action in actions:
                env.step(action)
            return time.perf_counter() - started

        return timed

    for context in ("spawn", "fork"):
        env = vector(_PROCESSES, "async", shared_memory=False, context=context)
        yield f"async {context}", _PROCESSES, steps_of(env)
    yield "scalar", 1, steps_of(gymnasium.make(_ENVIRONMENT, **options))
    yield f"sync {num_envs}", num_envs, steps_of(vector(num_envs, "sync"))
    for size in _sizes(num_envs):
        yield f"arena {size}", size, steps_of(vector(size))


def _searches(
    corpus: arena.Corpus, retriever: str, num_envs: int, k: int
) -> Iterator[tuple[str, int, _Timed]]:
    """Yield the same for searches without an environment."""
    surveys = list(TaskSet(corpus).surveys.values())

    def timed(batches: list[list[str]], seed: int) -> float:
        views = [
            corpus.at(each.date, exclude=[each.id], retriever=retriever)
            for each in random.Random(seed).choices(surveys, k=len(batches[0]))
        ]
        searches = [
            [(view, query, k) for view, query in zip(views, some, strict=True)] for some in batches
        ]
        started = time.perf_counter()
        for some in searches:
            if len(some) == 1:
                some[0][0].search(*some[0][1:])
            else:
                arena.search_batch(some)
        return time.perf_counter() - started

    for size in _sizes(num_envs):
        yield f"search {size}", size, timed


def _sizes(num_envs: int) -> list[int]:
    return sorted({1, min(8, num_envs), num_envs})


def show(results: Results) -> str:
    """Return tables of what `measure` returned; ``ratio`` is to the faster `AsyncVectorEnv`."""
    medians = {name: statistics.median(times) for name, times in results["seconds"].items()}
    best = min((took for name, took in medians.items() if name[:5] == "async"), default=None)
    rows = []
    for name, took in medians.items():
        ratio = best / took if best and name[:6] != "search" else None
        rows.append([name, f"{1 / took:,.0f}", 1e6 * took, ratio])
    settings = results["settings"]
    title = f"{_ENVIRONMENT}, {settings['retriever']}, k={settings['k']}: medians of rounds"
    return "\n\n".join([
        head(results),
        table(title, ("steps", "a second", "us", "ratio"), rows),
        *(f"{name} was skipped: {reason}" for name, reason in results["skipped"].items()),
    ])  # fmt: skip


def measure_retrieve(
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


def show_retrieve(results: Results) -> str:
    """Return a table of what `measure_retrieve` returned; ``ratio`` is to ``search_batch``."""
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
