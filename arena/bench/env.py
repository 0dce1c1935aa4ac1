"""Time steps of environments side by side: scalar, Gymnasium's vectors, ours, the search alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.code import code_sha256
from arena._internal.progress import progress
from arena.bench import _machine
from arena.bench._env_arms import ENVIRONMENT, Arm, SearchArm, StepArm, make, make_vector
from arena.bench._env_queries import queries_of
from arena.errors import ArenaError, DataError, clip

CHARACTERS = 2_000
"""Of an observation, about, unless `k` is given."""

AIM = 5.0
"""Times the steps a second of the fastest `AsyncVectorEnv`, with as many processes as that has."""

_PROCESSES = 2
_SAMPLE = 256


class Settings(NamedTuple):
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


def measure(directory: Path | str, settings: Settings) -> dict[str, Any]:
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
    import arena

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
    found = [
        {"name": arm.name, "batch": arm.batch, "processes": arm.processes} | times[arm.name]
        for arm in arms
    ]
    return {
        "benchmark": "env",
        "environment": ENVIRONMENT,
        "settings": settings._asdict(),
        "machine": _machine.describe(),
        "hashes": {
            "corpus": corpus.sha256,
            "index": corpus.index_sha256(settings.retriever),
            "code": code_sha256(type(engine)),
            "commit": _machine.commit(),
        },
        "arms": found,
        "summary": summary(found),
    }


def summary(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what follows from the times of the arms.

    Args:
        arms: as `measure` returns them.

    Returns:
        ``steps_per_second``: name -> median over the rounds; ``cpu_us``: name -> median CPU
        microseconds of a step or search, of all processes; ``search_us``: name -> median
        microseconds of a search alone; ``overhead_us``: name -> median of the CPU microseconds
        that a step in one process takes more than a search of the same round, CPU because other
        processes take none of it; ``characters`` of an observation; ``async``: the name of the
        fastest `AsyncVectorEnv`, ``ratio``: the steps a second of each kind over its own; and
        ``aim``, of the largest of our vectors: its name (``arm``), the
        ``ratio`` that is aimed at, ``measured`` and ``met``; None where either was not timed.
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
    largest = max((name for name in ratio if name.startswith("arena")), key=_size, default=None)
    return {
        "steps_per_second": steps,
        "cpu_us": {name: statistics.median(seconds) * 1e6 for name, seconds in cpu.items()},
        "search_us": {name: 1e6 / rates[name] for name in alone.values()},
        "overhead_us": overhead,
        "characters": statistics.mean(arm["characters"] for arm in arms if "characters" in arm),
        "async": best,
        "ratio": ratio,
        "aim": largest
        and {
            "arm": largest,
            "ratio": AIM,
            "measured": ratio[largest],
            "met": ratio[largest] >= AIM,
        },
    }


def _size(name: str) -> int:
    """Return the number of environments of an arm such as ``arena 64``."""
    return int(name.split()[1])


def _hits(corpus: Any, settings: Settings, queries: Iterator[str]) -> int:
    """Return how many hits make about `CHARACTERS` characters."""
    arm = StepArm("sample", make(corpus, settings.retriever))
    arm.time(queries, _SAMPLE, 10, settings.seed)
    assert arm.characters is not None
    return min(1000, max(1, round(10 * CHARACTERS / arm.characters)))


def _arms(corpus: Any, settings: Settings) -> list[Arm]:
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
    arms: list[Arm], settings: Settings, queries: Iterator[str]
) -> dict[str, dict[str, Any]]:
    """Time every arm in every round; leave out those that an engine refuses."""
    found: dict[str, dict[str, Any]] = {}
    running = []
    for arm in progress(arms, desc="warm-up", unit="kind"):
        try:
            arm.time(queries, settings.steps, settings.k, settings.seed)
        except ArenaError as error:  # as Java does in a forked process
            found[arm.name] = {"skipped": str(error)}
        else:
            found[arm.name] = {"seconds": [], "cpu_seconds": []}
            running.append(arm)
    for number in progress(range(settings.rounds), desc="round", unit="round"):
        seed = settings.seed + (number + 1) * settings.num_envs
        first = number % len(running)  # so that none always follows the same one
        for arm in running[first:] + running[:first]:
            took = arm.time(queries, settings.steps, settings.k, seed)
            found[arm.name]["seconds"].append(took.wall)
            found[arm.name]["cpu_seconds"].append(took.cpu)
            if arm.characters is not None:
                found[arm.name].setdefault("characters", []).append(arm.characters)
    for times in found.values():
        if "characters" in times:
            times["characters"] = statistics.mean(times["characters"])
    return found
