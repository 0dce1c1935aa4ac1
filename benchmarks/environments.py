"""Time steps of environments side by side: scalar, Gymnasium's vectors, ours, the search alone."""

from __future__ import annotations

import random
import statistics
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from tabulate import tabulate

import arena
from arena._internal.code import code_sha256
from arena._internal.progress import progress
from arena._internal.signals import block_sigint_in_children
from arena.corpus.store import CorpusStore
from arena.errors import ArenaError, DataError, clip
from benchmarks import machine

ENVIRONMENT = "arena/Discovery-v0"
BUDGET: dict[str, Any] = {"max_steps": 10**6, "max_searches": 10**6, "max_characters": 10**9}
"""So large that no episode ends while it is timed."""

CHARACTERS = 2_000
"""Of an observation, about, unless `k` is given."""

_PROCESSES = 2
_SAMPLE = 256
_WORDS = (3, 6)  # of a query


class StepSettings(NamedTuple):
    """What is measured.

    Attributes:
        retriever: an engine of the corpus.
        num_envs: environments in the largest vector, 1 to 1,000.
        steps: of each kind in a round, 1 to 1,000,000; rounded up to whole steps of a vector.
        rounds: that are timed, 1 to 1,000; one before them is not.
        k: hits of a search, 0 to 1,000; 0 for as many as make about `CHARACTERS` characters.
        seed: of queries and surveys, >= 0.
    """

    retriever: str = "bm25"
    num_envs: int = 64
    steps: int = 8192
    rounds: int = 5
    k: int = 0
    seed: int = 0

    def check(self) -> None:
        """Raise DataError if a number is out of its range."""
        most = {"num_envs": 1000, "steps": 10**6, "rounds": 1000, "k": 1000, "seed": 2**31}
        for name, limit in most.items():
            value, least = getattr(self, name), int(name not in ("k", "seed"))
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= limit:
                raise DataError(f"{name}={clip(value)}: give an integer from {least} to {limit}.")


def measure(directory: Path | str, settings: StepSettings) -> dict[str, Any]:
    """Time searching steps of every kind of environment, and the same searches alone.

    Every round times all kinds, one after another, each with queries that nothing has searched
    before and with the cutoffs of surveys drawn for the round. No episode ends meanwhile.

    Args:
        directory: of a built corpus with a survey that can be scored.
        settings: see there.

    Returns:
        ``settings``, ``machine``, ``hashes``, ``arms`` (each with ``name``, ``batch``,
        ``processes``, and either ``seconds`` and ``cpu_seconds``, of a search in each round, and
        ``characters``, an observation's mean, or ``skipped``, the reason), and ``summary``, see
        `summary`.

    Raises:
        DataError: if a setting is out of its range.
        CorpusError, UnknownNameError: if the corpus or the engine cannot be used.
    """
    settings.check()
    corpus = arena.Corpus.open(directory)
    engine = corpus.retriever(settings.retriever)
    queries = queries_of(corpus._store, settings.seed)
    if not settings.k:
        settings = settings._replace(k=_hits(corpus, settings, queries))
    with ExitStack() as stack:
        arms = _arms(corpus, settings)
        for arm in arms:
            stack.callback(arm.close)
        times = _times(arms, settings, queries)
    measured = [
        {"name": arm.name, "batch": arm.batch, "processes": arm.processes} | times[arm.name]
        for arm in arms
    ]
    return {
        "benchmark": "env",
        "environment": ENVIRONMENT,
        "settings": settings._asdict(),
        "machine": machine.describe(),
        "hashes": {
            "corpus": corpus.sha256,
            "index": corpus.index_sha256(settings.retriever),
            "code": code_sha256(type(engine)),
            "commit": machine.commit(),
        },
        "arms": measured,
        "summary": summary(measured),
    }


def summary(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return rates, ratios and overheads computed from the times of the arms.

    Args:
        arms: as `measure` returns them.

    Returns:
        ``steps_per_second``: name -> median over the rounds; ``cpu_us``: name -> median CPU
        microseconds of a step or search, of all processes; ``search_us``: name -> median
        microseconds of a search alone; ``overhead_us``: name -> median of the CPU microseconds
        that a step in one process takes more than a search of the same round, CPU because other
        processes take none of it; ``characters`` of an observation; ``async``: the name of the
        fastest `AsyncVectorEnv`, ``ratio``: the steps a second of each kind over its own.
    """
    times = {arm["name"]: arm["seconds"] for arm in arms if "seconds" in arm}
    rates = {name: 1 / statistics.median(seconds) for name, seconds in times.items()}
    steps = {name: rate for name, rate in rates.items() if not name.startswith("search")}
    alone = {arm["batch"]: arm["name"] for arm in arms if arm["name"].startswith("search")}
    known = [arm for arm in arms if None not in arm.get("cpu_seconds", [None])]
    cpu = {arm["name"]: arm["cpu_seconds"] for arm in known}
    overhead = {}
    for arm in arms:
        if arm["name"].startswith(("arena", "scalar")) and arm["processes"] == 1:
            pairs = zip(cpu[arm["name"]], cpu[alone[arm["batch"]]], strict=True)
            overhead[arm["name"]] = statistics.median(step - search for step, search in pairs) * 1e6
    asynchronous = [name for name in steps if name.startswith("async")]
    best = max(asynchronous, key=steps.__getitem__, default=None)
    ratio = {name: rate / steps[best] for name, rate in steps.items()} if best else {}
    return {
        "steps_per_second": steps,
        "cpu_us": {name: statistics.median(seconds) * 1e6 for name, seconds in cpu.items()},
        "search_us": {name: 1e6 / rates[name] for name in alone.values()},
        "overhead_us": overhead,
        "characters": statistics.mean(arm["characters"] for arm in arms if "characters" in arm),
        "async": best,
        "ratio": ratio,
    }


def _hits(corpus: Any, settings: StepSettings, queries: Iterator[str]) -> int:
    """Return how many hits make about `CHARACTERS` characters."""
    arm = StepArm("sample", make(corpus, settings.retriever))
    arm.time(queries, _SAMPLE, 10, settings.seed)
    assert arm.characters is not None
    return min(1000, max(1, round(10 * CHARACTERS / arm.characters)))


def _arms(corpus: Any, settings: StepSettings) -> list[Arm]:
    retriever, sizes = settings.retriever, sorted({1, min(8, settings.num_envs), settings.num_envs})

    def vector(num_envs: int, mode: str | None = None, **options: Any) -> Any:
        return make_vector(corpus, retriever, num_envs, mode, options)

    arms: list[Arm] = [
        StepArm(
            f"async {context}",
            vector(_PROCESSES, "async", shared_memory=False, context=context),
            processes=_PROCESSES,
        )
        for context in ("spawn", "fork")
    ]
    arms += [StepArm("scalar", make(corpus, retriever))]
    arms += [StepArm(f"sync {settings.num_envs}", vector(settings.num_envs, "sync"))]
    arms += [StepArm(f"arena {size}", vector(size)) for size in sizes]
    arms += [SearchArm(f"search {size}", size, corpus, retriever) for size in sizes]
    return arms


def _times(
    arms: list[Arm], settings: StepSettings, queries: Iterator[str]
) -> dict[str, dict[str, Any]]:
    """Time every arm in every round; leave out those that an engine refuses."""
    results: dict[str, dict[str, Any]] = {}
    running = []
    for arm in progress(arms, desc="warm-up", unit="kind"):
        try:
            arm.time(queries, settings.steps, settings.k, settings.seed)
        except ArenaError as error:  # as Java does in a forked process
            results[arm.name] = {"skipped": str(error)}
        else:
            results[arm.name] = {"seconds": [], "cpu_seconds": []}
            running.append(arm)
    for number in progress(range(settings.rounds), desc="round", unit="round"):
        seed = settings.seed + (number + 1) * settings.num_envs
        first = number % len(running)  # so that none always follows the same one
        for arm in running[first:] + running[:first]:
            took = arm.time(queries, settings.steps, settings.k, seed)
            results[arm.name]["seconds"].append(took.wall)
            results[arm.name]["cpu_seconds"].append(took.cpu)
            if arm.characters is not None:
                results[arm.name].setdefault("characters", []).append(arm.characters)
    for times in results.values():
        if "characters" in times:
            times["characters"] = statistics.mean(times["characters"])
    return results


def make(corpus: arena.Corpus, retriever: str) -> Any:
    """Return a scalar environment."""
    return gymnasium.make(ENVIRONMENT, corpus=corpus, retriever=retriever, max_k=1000, **BUDGET)


def make_vector(
    corpus: arena.Corpus, retriever: str, num_envs: int, mode: str | None, options: dict[str, Any]
) -> Any:
    """Return a vector environment with `options`: ours, or with a `mode` one of Gymnasium's."""
    with block_sigint_in_children():
        return gymnasium.make_vec(
            ENVIRONMENT,
            num_envs=num_envs,
            vectorization_mode=mode,
            vector_kwargs=options if mode else None,
            corpus=corpus,
            retriever=retriever,
            max_k=1000,
            **BUDGET,
            **({} if mode else options),
        )


class Time(NamedTuple):
    """What a search took, in seconds: on the clock, and of all processors; None if not known."""

    wall: float
    cpu: float | None


class Arm(ABC):
    """One way to make searches.

    Attributes:
        name: in the results.
        batch: searches that are made together, or environments that step together.
        processes: that search.
        characters: of the observations of a round, their mean, once there was one.
    """

    def __init__(self, name: str, env: Any, processes: int = 1) -> None:
        self._env = env
        self._is_vector = isinstance(env, gymnasium.vector.VectorEnv)
        self.name, self.processes = name, processes
        self.batch = env.num_envs if self._is_vector else 1
        self.characters: float | None = None

    def time(self, queries: Iterator[str], searches: int, k: int, seed: int) -> Time:
        """Return what a search takes when at least so many are made.

        Args:
            queries: the next ones are taken; none comes back.
            searches: rounded up to whole batches.
            k: hits of a search.
            seed: of the surveys, whose dates are the cutoffs.
        """
        batches = [
            [next(queries) for _ in range(self.batch)] for _ in range(-(-searches // self.batch))
        ]
        work = self._begin(batches, k, seed)
        cpu, started = self._cpu(), time.perf_counter()
        last = self._carry_out(work)
        wall, after = time.perf_counter() - started, self._cpu()
        self.characters = self._shown(last, len(batches))
        made = len(batches) * self.batch
        return Time(wall / made, None if cpu is None or after is None else (after - cpu) / made)

    def _cpu(self) -> float | None:
        """Return the CPU seconds of this process and of those that the environment has started."""
        total = time.process_time()
        for process in getattr(self._env, "processes", ()):
            try:  # Linux: nanoseconds first, of each thread
                tasks = list(Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
                total += sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9
            except (OSError, ValueError, IndexError):
                tasks = []
            if not tasks:
                return None
        return total

    def close(self) -> None:
        """Close the environment, which ends its processes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # if interrupted in a step, that it was in one
            # Gymnasium's processes might wait for ever for a step that was interrupted.
            self._env.close(**({} if self.processes == 1 else {"terminate": True}))

    @abstractmethod
    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        """Make everything ready."""

    @abstractmethod
    def _carry_out(self, work: Any) -> Any:
        """Do what is timed."""

    def _shown(self, last: Any, steps: int) -> float | None:
        """Return the mean number of characters of the observations, if there were any."""
        return None


class SearchArm(Arm):
    """The search alone, through the views that episodes have."""

    def __init__(self, name: str, batch: int, corpus: arena.Corpus, retriever: str) -> None:
        super().__init__(name, make_vector(corpus, retriever, batch, None, {}))
        self._corpus, self._engine = corpus, corpus.retriever(retriever)

    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        observation, infos = self._env.reset(seed=seed)
        views = [
            self._corpus.at(cutoff, exclude=[survey], retriever=self._engine)
            for cutoff, survey in zip(observation["cutoff"], infos["survey"], strict=True)
        ]
        return [
            [(view, query, k) for view, query in zip(views, batch, strict=True)]
            for batch in batches
        ]

    def _carry_out(self, work: Any) -> None:
        if self.batch == 1:
            for ((view, query, k),) in work:
                view.search(query, k)
        else:
            for searches in work:
                arena.search_batch(searches)


class StepArm(Arm):
    """Steps of an environment, each of which searches."""

    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        self._env.reset(seed=seed)
        actions = [
            [{"tool": "search", "arguments": {"query": query, "k": k}} for query in batch]
            for batch in batches
        ]
        return actions if self._is_vector else [action for (action,) in actions]

    def _carry_out(self, work: Any) -> Any:
        step = self._env.step
        for actions in work:
            last = step(actions)
        return last

    def _shown(self, last: Any, steps: int) -> float:
        left = last[0]["budget"]["characters"]
        return float(BUDGET["max_characters"] - np.mean(left)) / steps


def queries_of(store: CorpusStore, seed: int) -> Iterator[str]:
    """Yield distinct queries without end: three to six neighbouring words of a paper's title.

    A query that was there before gets words of further titles, so that a small corpus has enough.

    Args:
        store: of a corpus with a searchable paper that has a title.
        seed: of the choice.
    """
    rng = random.Random(seed)
    searchable = [n for n in range(len(store.titles)) if store.is_searchable(n)]
    given: set[str] = set()
    while True:
        words = _neighbours(rng, store.titles[rng.choice(searchable)].split())
        while " ".join(words) in given:
            words += _neighbours(rng, store.titles[rng.choice(searchable)].split())
        given.add(" ".join(words))
        yield " ".join(words)


def _neighbours(rng: random.Random, words: list[str]) -> list[str]:
    count = min(len(words), rng.randint(*_WORDS))
    start = rng.randrange(len(words) - count + 1)
    return words[start : start + count]


def show(results: dict[str, Any]) -> str:
    """Return tables of what `measure` returned."""
    summarised, settings, described = results["summary"], results["settings"], results["machine"]
    rates, alone = summarised["steps_per_second"], summarised["search_us"]

    def figure(key: str, name: str) -> str:
        return f"{summarised[key][name]:.2f}" if name in summarised[key] else ""

    steps = [
        (
            arm["name"],
            arm["batch"],
            arm["processes"],
            f"{rates[arm['name']]:,.0f}",
            f"{1e6 / rates[arm['name']]:.1f}",
            *(figure(key, arm["name"]) for key in ("cpu_us", "overhead_us", "ratio")),
        )
        for arm in results["arms"]
        if arm["name"] in rates
    ]
    headers = ("steps", "envs", "processes", "steps/s", "us", "CPU us", "of these no search",
               "ratio")  # fmt: skip
    searches = [
        (name, f"{1e6 / took:,.0f}", f"{took:.1f}", figure("cpu_us", name))
        for name, took in alone.items()
    ]
    lines = [
        tabulate(steps, headers=headers),
        tabulate(searches, headers=("in batches of", "searches/s", "us", "CPU us")),
        *(
            f"{arm['name']} was skipped: {arm['skipped']}"
            for arm in results["arms"]
            if "skipped" in arm
        ),
        f"{results['environment']}, {settings['retriever']}, k={settings['k']}: observations of "
        f"{summarised['characters']:,.0f} characters on average; medians of {settings['rounds']} "
        f"rounds of {settings['steps']} steps. Ratio: to the steps a second of "
        f"{summarised['async']!r}.",
        f"{described['cpu']}, {described['cores']} cores; Python {described['python']}",
        ", ".join(f"{n} {results['hashes'][n][:12]}" for n in ("corpus", "index", "code")),
    ]
    return "\n\n".join(lines)
