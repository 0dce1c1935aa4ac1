"""Time steps of environments and the same searches without them."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import gymnasium

import arena
from arena.errors import ArenaError
from arena.kit.process import block_sigint_in_children
from arena.kit.terminal import progress
from arena.tasks import TaskSet
from benchmarks.report import Results, check_range, head, queries_of, table

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
