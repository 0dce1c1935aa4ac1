"""The pieces of a benchmark, each done by a process of its own."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from arena.bench import _machine, _sources, _vectors
from arena.bench._check import check
from arena.bench._collection import Collection
from arena.bench.engines.base import ENGINES

Job = dict[str, Any]


def collection(job: Job) -> dict[str, Any]:
    """Make the collection of a size."""
    directory = _fresh(job["collection"])
    documents, queries, seed = job["documents"], job["queries"], job["seed"]
    started = time.perf_counter()
    if job["corpus"] is None:
        _sources.synthetic(directory, documents, queries, seed)
    else:
        _sources.from_corpus(directory, Path(job["corpus"]), documents, queries, seed)
    seconds = time.perf_counter() - started
    made = Collection(directory)
    ends = {f"{percent:g}": made.end(percent) for percent in job["cutoffs"]}
    return {
        "seconds": seconds,
        **{key: value for key, value in made.about.items() if key != "queries"},
        "ends": ends,
        "postings_a_query": {p: made.mean_postings(end) for p, end in ends.items()},
        "terms_a_query": sum(len(q.terms) for q in made.queries) / len(made.queries),
        "peak_memory": _machine.peak_memory(),
    }


def vectors(job: Job) -> dict[str, Any]:
    """Make the vectors of a size."""
    started = time.perf_counter()
    _vectors.write_vectors(Collection(Path(job["collection"])))
    return {"seconds": time.perf_counter() - started}


def bandwidth(job: Job) -> dict[str, Any]:
    """Measure how fast memory is read."""
    return dict(_machine.bandwidth())


def build(job: Job) -> dict[str, Any]:
    """Build the index of one engine."""
    opened, directory = Collection(Path(job["collection"])), _fresh(job["index"])
    kind = ENGINES.get(job["engine"])
    directory.mkdir(parents=True)
    wall, cpu = time.perf_counter(), _machine.cpu_seconds()
    told = kind.build(opened, directory)
    return {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": _machine.cpu_seconds() - cpu,
        "bytes": sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
        "peak_memory": _machine.peak_memory(),
        "index": told,
        "versions": kind.versions(),
    }


def verify(job: Job) -> dict[str, Any]:
    """Compare the engine with the oracle."""
    opened = Collection(Path(job["collection"]))
    engine = ENGINES.get(job["engine"]).open(Path(job["index"]), opened, job["threads"])
    started = time.perf_counter()
    difference = check(engine, opened, job["k"], job["cutoffs"])
    return {"difference": difference, "seconds": time.perf_counter() - started}


def measure(job: Job) -> dict[str, Any]:
    """Time the engine: every query at every cutoff, alone or in batches.

    Before, it searches at least ``job["warm"]`` seconds, and all queries at least once, so that
    what is compiled and cached on the way is not timed. Times are integers, nanoseconds: one a
    query and cutoff alone, one a batch and cutoff.
    """
    opened, kind = Collection(Path(job["collection"])), ENGINES.get(job["engine"])
    texts = [query.text for query in opened.queries]
    ends = {f"{percent:g}": opened.end(percent) for percent in job["cutoffs"]}
    started = time.perf_counter()
    engine = kind.open(Path(job["index"]), opened, job["threads"])
    engine.prepare(opened.documents)
    engine.search(texts[0], job["k"], opened.documents)
    first = time.perf_counter() - started
    del engine
    gc.collect()
    started = time.perf_counter()
    engine = kind.open(Path(job["index"]), opened, job["threads"])
    again = time.perf_counter() - started
    for end in ends.values():
        engine.prepare(end)
    size, k = (1 if job["mode"] == "single" else job["batch"]), job["k"]
    groups = [texts[low : low + size] for low in range(0, len(texts), size)]

    def one_pass(end: int) -> list[tuple[int, int]]:
        if job["mode"] == "single":
            return [_timed(partial(engine.search, text, k, end)) for text in texts]
        return [_timed(partial(engine.batch, group, k, end)) for group in groups]

    started = time.perf_counter()
    while True:
        for end in ends.values():
            one_pass(end)
        if time.perf_counter() - started >= job["warm"]:
            break
    times = {percent: one_pass(end) for percent, end in ends.items()}
    return {
        "first_seconds": first,
        "open_seconds": again,
        "queries": [len(group) for group in groups],
        "wall_ns": {percent: [wall for wall, _ in pairs] for percent, pairs in times.items()},
        "cpu_ns": {percent: [cpu for _, cpu in pairs] for percent, pairs in times.items()},
        "peak_memory": _machine.peak_memory(),
    }


def _timed(call: Callable[[], Any]) -> tuple[int, int]:
    """Return wall and CPU nanoseconds of a call; CPU is that of all threads of the process."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - wall, time.process_time_ns() - cpu


def _fresh(directory: str) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    return Path(directory)


ACTIONS: dict[str, Callable[[Job], dict[str, Any]]] = {
    action.__name__: action for action in (collection, vectors, bandwidth, build, verify, measure)
}


def environment(threads: int) -> dict[str, str]:
    """Return the variables that hold every library to a number of threads."""
    names: Sequence[str] = (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )
    return dict.fromkeys(names, str(threads))
