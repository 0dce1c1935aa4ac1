"""Time steps of environments side by side, and the search alone."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

import arena
from arena._internal.progress import progress
from arena._internal.signals import block_sigint_in_children
from arena.corpus.store import CorpusStore
from arena.errors import ArenaError
from arena.tasks import TaskSet
from benchmarks.report import check_range, machine, table

ENVIRONMENT = "arena/Discovery-v0"
BUDGET: dict[str, Any] = {"max_steps": 10**6, "max_searches": 10**6, "max_characters": 10**9}
"""So large that no episode ends while it is timed."""

_PROCESSES = 2
_WORDS = (3, 6)  # of a query


class StepSettings(NamedTuple):
    """What is measured.

    Attributes:
        retriever: An engine of the corpus.
        num_envs: Environments in the largest vector, 1 to 1,000.
        steps: Steps of each kind in a round, rounded up to whole steps of a vector.
        rounds: Rounds that are timed; one before them is not.
        k: Hits of a search, 1 to 1,000.
        seed: Of queries and surveys.
    """

    retriever: str = "bm25"
    num_envs: int = 64
    steps: int = 8192
    rounds: int = 5
    k: int = 13
    seed: int = 0


class StepKind(NamedTuple):
    """A way to make searches: its name, how many at a time, and the function that makes them.

    The function takes batches of queries and a seed; it returns the seconds that they took.
    """

    name: str
    batch: int
    time: Callable[[list[list[str]], int], float]


def measure(directory: Path | str, settings: StepSettings) -> dict[str, Any]:
    """Time searching steps of every kind of environment, the same searches alone.

    Every round times all kinds, one after another, each with queries that nothing has searched
    before and with the cutoffs of surveys drawn for the round. No episode ends meanwhile.

    Args:
        directory: Directory of a built corpus with a survey that can be scored.
        settings: What is measured.

    Returns:
        ``settings``, ``machine``, ``corpus`` (its hash), ``seconds`` (kind -> seconds a step or
        search in each round), ``skipped`` (kind -> reason).

    Raises:
        DataError: If a setting is out of its range.
        CorpusError, UnknownNameError: If the corpus or the engine cannot be used.
    """
    check_range(1, 1000, num_envs=settings.num_envs, rounds=settings.rounds, k=settings.k)
    check_range(1, 10**6, steps=settings.steps)
    check_range(0, 2**31, seed=settings.seed)
    corpus = arena.Corpus.open(directory)
    queries = queries_of(CorpusStore(corpus.directory), settings.seed)
    skipped: dict[str, str] = {}
    seconds: dict[str, list[float]] = {}
    with ExitStack() as stack:
        kinds = list(_kinds(corpus, settings, stack))
        for number in progress(range(settings.rounds + 1), desc="round", unit="round"):
            seed = settings.seed + number * settings.num_envs
            first = number % len(kinds)  # so that none always follows the same one
            for kind in kinds[first:] + kinds[:first]:
                if kind.name in skipped:
                    continue
                count = -(-settings.steps // kind.batch)
                batches = [[next(queries) for _ in range(kind.batch)] for _ in range(count)]
                try:
                    took = kind.time(batches, seed)
                except ArenaError as error:  # as Java does in a forked process
                    skipped[kind.name] = str(error)
                    continue
                if number:  # the first round compiles and warms up
                    seconds.setdefault(kind.name, []).append(took / (count * kind.batch))
    return {
        "settings": settings._asdict(),
        "machine": machine(),
        "corpus": corpus.sha256,
        "seconds": {kind.name: seconds[kind.name] for kind in kinds if kind.name in seconds},
        "skipped": skipped,
    }


def _kinds(corpus: arena.Corpus, settings: StepSettings, stack: ExitStack) -> Iterator[StepKind]:
    options = {"corpus": corpus, "retriever": settings.retriever, "max_k": 1000, **BUDGET}

    def vector(num_envs: int, mode: str | None = None, **more: Any) -> Any:
        with block_sigint_in_children():
            made = gymnasium.make_vec(
                ENVIRONMENT, num_envs, mode, vector_kwargs=more if mode else None, **options
            )
        # Gymnasium's processes might wait for ever for a step that was interrupted.
        stack.callback(made.close, **({"terminate": True} if mode == "async" else {}))
        return made

    def steps(name: str, env: Any, batch: int) -> StepKind:
        def timed(batches: list[list[str]], seed: int) -> float:
            env.reset(seed=seed)
            searches = [
                [{"tool": "search", "arguments": {"query": q, "k": settings.k}} for q in some]
                for some in batches
            ]
            is_vector = isinstance(env, gymnasium.vector.VectorEnv)
            actions = searches if is_vector else [action for (action,) in searches]
            started = time.perf_counter()
            for action in actions:
                env.step(action)
            return time.perf_counter() - started

        return StepKind(name, batch, timed)

    surveys = list(TaskSet(corpus).surveys.values())

    def alone(size: int) -> StepKind:
        def timed(batches: list[list[str]], seed: int) -> float:
            views = [
                corpus.at(each.date, exclude=[each.id], retriever=settings.retriever)
                for each in random.Random(seed).choices(surveys, k=size)
            ]
            searches = [[(*pair, settings.k) for pair in zip(views, some)] for some in batches]  # noqa: B905
            started = time.perf_counter()
            for some in searches:
                if size == 1:
                    some[0][0].search(*some[0][1:])
                else:
                    arena.search_batch(some)
            return time.perf_counter() - started

        return StepKind(f"search {size}", size, timed)

    for context in ("spawn", "fork"):
        env = vector(_PROCESSES, "async", shared_memory=False, context=context)
        yield steps(f"async {context}", env, _PROCESSES)
    yield steps("scalar", gymnasium.make(ENVIRONMENT, **options), 1)
    yield steps(f"sync {settings.num_envs}", vector(settings.num_envs, "sync"), settings.num_envs)
    sizes = sorted({1, min(8, settings.num_envs), settings.num_envs})
    yield from (steps(f"arena {size}", vector(size), size) for size in sizes)
    yield from map(alone, sizes)


def queries_of(store: CorpusStore, seed: int) -> Iterator[str]:
    """Yield distinct queries without end: three to six neighbouring words of a paper's title.

    A query that was there before gets words of further titles, so that a small corpus has enough.

    Args:
        store: Papers of a corpus with a searchable paper that has a title.
        seed: Of the choice.
    """
    rng = random.Random(seed)
    searchable = [n for n in range(len(store.titles)) if store.is_searchable(n)]

    given: set[str] = set()
    while True:
        words: list[str] = []
        while not words or " ".join(words) in given:
            title = store.titles[rng.choice(searchable)].split()
            count = min(len(title), rng.randint(*_WORDS))
            start = rng.randrange(len(title) - count + 1)
            words += title[start : start + count]
        given.add(" ".join(words))
        yield " ".join(words)


def show(results: dict[str, Any]) -> str:
    """Return tables of what `measure` returned; ``ratio`` is to the faster `AsyncVectorEnv`."""
    medians = {name: statistics.median(times) for name, times in results["seconds"].items()}
    best = min((took for name, took in medians.items() if name[:5] == "async"), default=None)
    rows = [
        [
            name,
            f"{1 / took:,.0f}",
            1e6 * took,
            (best and name[:6] != "search" and best / took) or None,
        ]
        for name, took in medians.items()
    ]
    settings = results["settings"]
    title = f"{ENVIRONMENT}, {settings['retriever']}, k={settings['k']}: medians of rounds"
    return "\n\n".join(
        [
            f"{results['machine']}; corpus {results['corpus'][:12]}",
            table(title, ("steps", "a second", "us", "ratio"), rows),
            *(f"{name} was skipped: {reason}" for name, reason in results["skipped"].items()),
        ]
    )
