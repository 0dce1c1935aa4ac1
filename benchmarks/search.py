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
        dimension: Components of the vectors.

    Returns:
        ``corpus`` (its hash), ``documents``, ``skipped`` (engine -> reason) and ``engines``: for
        each its ``build`` (``seconds``, ``cpu`` and bytes of ``disk``) and by cutoff ``single`` and
        ``batch`` (wall and CPU seconds a query, of each repeat) and ``agreement``, the share of the
        hits of ``bm25`` or ``dense`` that it returns.
    """
    check_range(1, math.inf, queries=queries, k=k, repeats=repeats, batch=batch)
    check_range(1, math.inf, dimension=dimension)
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
                    engine, opened.directory, drawn, dimension, place, k, repeats, percents
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
    percents: list[float]


def _measure_engine(timing: Timing, batch: int) -> tuple[dict[str, Any], dict[str, Hits]]:
    """Build and time an engine in two processes; return figures, and hits by cutoff."""
    built, batched, _ = in_child(build_and_time, timing, batch, cores(), threads=cores())
    single, hits = in_child(time_engine, timing, 1, 1, threads=1)
    cutoffs = {
        cutoff: {"single": times, "batch": batched[cutoff]} for cutoff, times in single.items()
    }
    return {"build": built, "cutoffs": cutoffs}, hits


def agreement(reference: list[list[int]], rankings: list[list[int]]) -> float:
    """Return the share of the reference's hits that stand in the rankings of the same queries.

    >>> agreement([[1, 2], [3, 4]], [[2, 1], [3, 5]])
    0.75
    """
    total = sum(map(len, reference))
    same = sum(len(set(a) & set(b)) for a, b in zip(reference, rankings, strict=True))
    return same / total if total else 1.0


def build_and_time(timing: Timing, size: int, threads: int) -> tuple[Any, ...]:
    """Build an index; return what that took, then what `time_engine` returns."""
    timing.directory.mkdir()
    with Clock() as clock:
        collection = DatedTexts(timing.corpus, timing.dimension)
        find_engine(timing.engine).build(collection, timing.directory)
    built = {"seconds": clock.wall, "cpu": clock.cpu, "disk": size_of(timing.directory)}
    return built, *time_engine(timing, size, threads)


def time_engine(timing: Timing, size: int, threads: int) -> tuple[dict[str, Any], dict[str, Hits]]:
    """Search all queries at every cutoff, `size` at once; return times and hits by cutoff."""
    collection, queries = DatedTexts(timing.corpus, timing.dimension), timing.queries
    search = find_engine(timing.engine).open(collection, timing.directory, threads)
    ends = {f"{percent:g}": collection.end(percent) for percent in timing.percents}
    batches = [queries[i : i + size] for i in range(0, len(queries), size)]

    def search_all(end: int) -> Hits:
        return [hits for batch in batches for hits in search(batch, timing.k, end)]

    hits = {cutoff: search_all(end) for cutoff, end in ends.items()}
    times: dict[str, dict[str, list[float]]] = {cutoff: {"wall": [], "cpu": []} for cutoff in ends}
    for _ in range(timing.repeats):
        for cutoff, end in ends.items():
            with Clock() as clock:
                search_all(end)
            times[cutoff]["wall"].append(clock.wall / len(queries))
            times[cutoff]["cpu"].append(clock.cpu / len(queries))
    return times, hits


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
    rows = [
        [name, of["build"]["seconds"], of["build"]["cpu"], of["build"]["disk"] / 1e6]
        for name, of in engines.items()
    ]
    parts.append(table("Index", ("engine", "build s", "CPU s", "MB"), rows))
    parts += [f"{name}: {reason}" for name, reason in results["skipped"].items()]
    return "\n\n".join(parts)
