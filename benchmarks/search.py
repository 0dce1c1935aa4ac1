"""Time search engines side by side, the project's own and others; compare what they return."""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import arena
from arena.errors import ArenaError, DataError
from arena.kit.process import cores
from benchmarks.collection import DatedTexts
from benchmarks.engines import ENGINES, Hits, find_engine
from benchmarks.report import (
    Clock,
    Results,
    check_range,
    head,
    in_child,
    numbers,
    peak_memory,
    queries_of,
    size_of,
    table,
)


def measure(
    *,
    corpus: str,
    engines: tuple[str, ...] = tuple(ENGINES),
    cutoffs: tuple[str, ...] = ("1", "10", "50", "100"),
    queries: int = 128,
    k: int = 100,
    repeats: int = 5,
    batch: int = 128,
    warm: float = 1.0,
    dimension: int = 384,
) -> Results:
    """Time search engines side by side, each in processes of its own; compare their hits.

    Args:
        corpus (DIR): A built corpus, whose titles and abstracts are searched.
        engines (NAMES): Engines; those that are not installed are skipped.
        cutoffs (PERCENTS): Percents of the documents before a cutoff.
        queries: Number of queries.
        k: Hits of a search.
        repeats: How often each is timed; medians count.
        batch: Queries in a batch, which may use all cores.
        warm: Seconds to search before the clock starts, at least.
        dimension: Components of the vectors.

    Returns:
        ``corpus`` (its hash), ``documents``, ``skipped`` (engine -> reason) and ``engines``: for
        each its ``build`` (``seconds``, ``cpu``, ``memory`` and ``disk`` in bytes), ``first`` and
        ``open`` (seconds to open and search once in a new process: the first, which may compile,
        and the next), ``memory``, and by cutoff ``single`` and ``batch`` (wall and CPU seconds a
        query, of each repeat) and ``agreement``, the share of the hits of ``bm25`` or ``dense``
        that it returns.
    """
    check_range(1, math.inf, queries=queries, k=k, repeats=repeats, batch=batch)
    check_range(1, math.inf, dimension=dimension)
    check_range(0, math.inf, warm=warm)
    percents = numbers("cutoffs", cutoffs, float)
    for percent in percents:
        check_range(1e-9, 100, cutoffs=percent)
    skipped = {name: reason for name in engines if (reason := find_engine(name).missing())}
    measured: dict[str, Any] = {}
    hits: dict[str, dict[str, Hits]] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as name:
        opened = arena.Corpus.open(corpus)
        documents, asked = DatedTexts(opened.directory).documents, queries_of(opened)
        drawn = list(islice(asked, queries))
        if k > documents:
            raise DataError(f"--k {k}: there are {documents} documents.")
        for engine in engines:
            if engine not in skipped:
                place = Path(name) / engine
                timing = Timing(
                    engine, opened.directory, drawn, dimension, place, k, repeats, warm, percents
                )
                try:
                    measured[engine], hits[engine] = _measure_engine(timing, batch)
                except ArenaError as error:
                    skipped[engine] = f"failed: {error}"
            say = f"skipped: {skipped[engine]}" if engine in skipped else "done"
            print(f"{engine}: {say}", file=sys.stderr, flush=True)
    if not measured:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        raise DataError(f"no engine can run here. {reasons}.")
    for engine, found in hits.items():
        own = {"lexical": "bm25", "dense": "dense"}.get(find_engine(engine).family, "")
        reference = hits.get(own, {})
        for cutoff, rankings in found.items() if reference else ():
            share = agreement(reference[cutoff], rankings)
            measured[engine]["cutoffs"][cutoff]["agreement"] = share
    return {
        "corpus": opened.sha256,
        "documents": documents,
        "skipped": skipped,
        "engines": measured,
    }


class Timing(NamedTuple):
    """What the processes of one engine are to do; see `measure`."""

    engine: str
    corpus: Path
    queries: list[str]
    dimension: int
    directory: Path
    k: int
    repeats: int
    warm: float
    percents: list[float]


def _measure_engine(timing: Timing, batch: int) -> tuple[dict[str, Any], dict[str, Hits]]:
    """Build, open and time an engine in three processes; return figures, and hits by cutoff."""
    built = in_child(build_index, timing, threads=cores())
    single = in_child(time_engine, timing, 1, 1, threads=1)
    batched = in_child(time_engine, timing, batch, cores(), threads=cores())
    figures = {
        "build": built, "first": single["open"], "open": batched["open"],
        "memory": max(single["memory"], batched["memory"]),
        "cutoffs": {
            cutoff: {"single": times, "batch": batched["times"][cutoff]}
            for cutoff, times in single["times"].items()
        },
    }  # fmt: skip
    return figures, single["hits"]


def agreement(reference: list[list[int]], rankings: list[list[int]]) -> float:
    """Return the share of the reference's hits that stand in the rankings of the same queries.

    >>> agreement([[1, 2], [3, 4]], [[2, 1], [3, 5]])
    0.75
    """
    total = sum(map(len, reference))
    same = sum(len(set(a) & set(b)) for a, b in zip(reference, rankings, strict=True))
    return same / total if total else 1.0


def build_index(timing: Timing) -> dict[str, float]:
    """Build an index; return seconds, CPU seconds, and bytes of memory and disk."""
    timing.directory.mkdir()
    with Clock() as clock:
        find_engine(timing.engine).build(
            DatedTexts(timing.corpus, timing.dimension), timing.directory
        )
    disk = size_of(timing.directory)
    return {"seconds": clock.wall, "cpu": clock.cpu, "memory": peak_memory(), "disk": disk}


def time_engine(timing: Timing, size: int, threads: int) -> dict[str, Any]:
    """Open an index and search all queries at every cutoff, `size` at once; return times, hits."""
    collection = DatedTexts(timing.corpus, timing.dimension)
    queries = timing.queries
    with Clock() as opening:
        search = find_engine(timing.engine).open(collection, timing.directory, threads)
        search(queries[:1], timing.k, collection.documents)
    ends = {f"{percent:g}": collection.end(percent) for percent in timing.percents}
    batches = [queries[i : i + size] for i in range(0, len(queries), size)]

    def search_all(end: int) -> Hits:
        return [hits for batch in batches for hits in search(batch, timing.k, end)]

    hits = {cutoff: search_all(end) for cutoff, end in ends.items()}
    warmed = 0.0
    while warmed < timing.warm:
        with Clock() as clock:
            for end in ends.values():
                search_all(end)
        warmed += clock.wall
    times: dict[str, dict[str, list[float]]] = {cutoff: {"wall": [], "cpu": []} for cutoff in ends}
    for _ in range(timing.repeats):
        for cutoff, end in ends.items():
            with Clock() as clock:
                search_all(end)
            times[cutoff]["wall"].append(clock.wall / len(queries))
            times[cutoff]["cpu"].append(clock.cpu / len(queries))
    return {"open": opening.wall, "memory": peak_memory(), "times": times, "hits": hits}


def show(results: Results) -> str:
    """Return tables of what `measure` returned."""
    engines, settings = results["engines"], results["settings"]
    cutoffs = list(next(iter(engines.values()))["cutoffs"])
    headers = ["engine", *(f"{cutoff} %" for cutoff in cutoffs)]
    parts = [
        f"{results['documents']:,} documents, {settings['queries']} queries, k = {settings['k']}",
        head(results),
    ]

    def by_cutoff(heading: str, value: Callable[[Any, str], Any], mode: str = "") -> None:
        rows = [
            [name, *(value(engine["cutoffs"][cutoff], mode) for cutoff in cutoffs)]
            for name, engine in engines.items()
        ]
        parts.append(table(heading, headers, rows))

    def milliseconds(at: Any, mode: str) -> Any:
        return 1e3 * statistics.median(at[mode]["cpu"])

    def rate(at: Any, mode: str) -> Any:
        return 1 / statistics.median(at[mode]["wall"])

    for mode, text in (("single", "one at a time"), ("batch", f"{settings['batch']} at a time")):
        by_cutoff(f"CPU milliseconds a query, {text}", milliseconds, mode)
        by_cutoff(f"Queries a second, {text}", rate, mode)
    by_cutoff("Share of the hits of bm25 or dense", lambda at, _: at.get("agreement"))
    rows = []
    for name, engine in engines.items():
        built, megabyte = engine["build"], 1e6
        sizes = [built["memory"] / megabyte, built["disk"] / megabyte]
        opened = [engine["first"] * 1e3, engine["open"] * 1e3, engine["memory"] / megabyte]
        rows.append([name, built["seconds"], built["cpu"], *sizes, *opened])
    columns = (
        "engine", "build s", "CPU s", "build MB", "index MB", "first ms", "open ms", "search MB",
    )  # fmt: skip
    parts.append(table("Index", columns, rows))
    parts += [f"{name}: {reason}" for name, reason in results["skipped"].items()]
    return "\n\n".join(parts)
