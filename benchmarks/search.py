"""Time search engines side by side, and compare what they return."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import ArenaError, DataError
from benchmarks.collection import DatedTexts, make_synthetic, take_corpus
from benchmarks.engines import Hits, find_engine
from benchmarks.report import Clock, check_range, in_child, machine, peak_memory, table


class SearchSettings(NamedTuple):
    """What is measured.

    Attributes:
        docs: Documents of the collection, or the most that are taken of a corpus.
        queries: Number of queries.
        k: Hits of a search.
        repeats: How often each is timed; medians count.
        batch: Queries in a batch.
        threads: Cores that a batch may use.
        warm: Seconds to search before the clock starts, at least.
        seed: Of the collection and its queries.
    """

    docs: int = 100_000
    queries: int = 128
    k: int = 100
    repeats: int = 5
    batch: int = 128
    threads: int = 1
    warm: float = 1.0
    seed: int = 0


def measure(
    settings: SearchSettings,
    engines: list[str],
    cutoffs: list[float],
    corpus: Path | None = None,
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Build, open and time each engine in processes of its own.

    Args:
        settings: What is measured.
        engines: Registered names; those that are not installed are skipped.
        cutoffs: Percents of the documents before a cutoff.
        corpus: A built corpus to take the papers from; None for a made-up collection.
        on_message: Function called when an engine is skipped, fails, or is done.

    Returns:
        ``settings``, ``machine``, ``skipped`` (engine -> reason) and ``engines``: for each its
        ``build`` (``seconds``, ``cpu``, ``memory`` and ``disk`` in bytes), ``open`` in seconds,
        ``memory``, and by cutoff ``single`` and ``batch`` (wall and CPU seconds a query, of each
        repeat) and ``agreement``, the share of the hits of ``bm25`` or ``dense`` that it returns.

    Raises:
        DataError: If a setting is out of range, or no engine can run here.
        UnknownNameError: If there is no engine of a name.
    """
    for name, value in settings._asdict().items():
        check_range(int(name not in ("warm", "seed")), float("inf"), **{name: value})
    for percent in cutoffs:
        check_range(1e-9, 100, cutoffs=percent)
    skipped = {name: reason for name in engines if (reason := find_engine(name).missing())}
    results: dict[str, Any] = {
        "settings": settings._asdict(), "machine": machine(), "skipped": skipped, "engines": {},
    }  # fmt: skip
    hits: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as name:
        place = Path(name) / "collection"
        if corpus is None:
            make_synthetic(place, settings.docs, settings.queries, settings.seed)
        else:
            take_corpus(place, corpus, settings.docs, settings.queries, settings.seed)
        collection = DatedTexts(place)
        results["documents"] = collection.documents
        if settings.k > collection.documents:
            raise DataError(f"--k {settings.k}: there are {collection.documents} documents.")
        for engine in engines:
            if engine in skipped:
                on_message(f"{engine}: skipped: {skipped[engine]}")
                continue
            index = Path(name) / engine
            try:
                built = in_child(build_index, engine, place, index, threads=settings.threads)
                arguments = (engine, place, index, settings, cutoffs)
                single = in_child(time_engine, *arguments, False, threads=1)
                batch = in_child(time_engine, *arguments, True, threads=settings.threads)
            except ArenaError as error:
                skipped[engine] = f"failed: {error}"
                on_message(f"{engine}: {skipped[engine]}")
                continue
            hits[engine] = single.pop("hits")
            results["engines"][engine] = {
                "build": built, "open": single["open"],
                "memory": max(single["memory"], batch["memory"]),
                "cutoffs": {
                    cutoff: {"single": single["times"][cutoff], "batch": batch["times"][cutoff]}
                    for cutoff in single["times"]
                },
            }  # fmt: skip
            on_message(f"{engine}: done")
    if not results["engines"]:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        raise DataError(f"no engine can run here. {reasons}.")
    for engine, found in hits.items():
        reference = hits.get("dense" if find_engine(engine).family == "dense" else "bm25")
        for cutoff, rankings in found.items() if reference else ():
            at = results["engines"][engine]["cutoffs"][cutoff]
            at["agreement"] = agreement((reference or {})[cutoff], rankings)
    return results


def agreement(reference: list[list[int]], rankings: list[list[int]]) -> float:
    """Return the share of the reference's hits that stand in the rankings of the same queries.

    >>> agreement([[1, 2], [3, 4]], [[2, 1], [3, 5]])
    0.75
    """
    total = sum(map(len, reference))
    same = sum(len(set(a) & set(b)) for a, b in zip(reference, rankings, strict=True))
    return same / total if total else 1.0


def build_index(engine: str, place: Path, directory: Path) -> dict[str, float]:
    """Build an index; return seconds, CPU seconds, and bytes of memory and disk."""
    directory.mkdir()
    with Clock() as clock:
        find_engine(engine).build(DatedTexts(place), directory)
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    return {"seconds": clock.wall, "cpu": clock.cpu, "memory": peak_memory(), "disk": size}


def time_engine(
    engine: str,
    place: Path,
    directory: Path,
    settings: SearchSettings,
    cutoffs: list[float],
    batched: bool,
) -> dict[str, Any]:
    """Open an index and search all queries at every cutoff; return times and hits."""
    collection = DatedTexts(place)
    with Clock() as opening:
        search = find_engine(engine).open(collection, directory, settings.threads if batched else 1)
        search(collection.queries[:1], settings.k, collection.documents)
    ends = {f"{percent:g}": collection.end(percent) for percent in cutoffs}
    size = settings.batch if batched else 1
    batches = [collection.queries[i : i + size] for i in range(0, settings.queries, size)]

    def search_all(end: int) -> Hits:
        return [hits for batch in batches for hits in search(batch, settings.k, end)]

    hits = {cutoff: search_all(end) for cutoff, end in ends.items()}
    warmed = 0.0
    while warmed < settings.warm:
        with Clock() as clock:
            for end in ends.values():
                search_all(end)
        warmed += clock.wall
    times: dict[str, dict[str, list[float]]] = {cutoff: {"wall": [], "cpu": []} for cutoff in ends}
    for _ in range(settings.repeats):
        for cutoff, end in ends.items():
            with Clock() as clock:
                search_all(end)
            times[cutoff]["wall"].append(clock.wall / settings.queries)
            times[cutoff]["cpu"].append(clock.cpu / settings.queries)
    return {"open": opening.wall, "memory": peak_memory(), "times": times, "hits": hits}


def show(results: dict[str, Any]) -> str:
    """Return tables of what `measure` returned."""
    engines, settings = results["engines"], results["settings"]
    cutoffs = list(next(iter(engines.values()))["cutoffs"])
    headers = ["engine", *(f"{cutoff} %" for cutoff in cutoffs)]
    title = (
        f"{results['documents']:,} documents, {settings['queries']} queries, k = {settings['k']}"
    )

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

    parts = [title, results["machine"]]
    for mode, text in (("single", "one at a time"), ("batch", f"{settings['batch']} at a time")):
        by_cutoff(f"CPU milliseconds a query, {text}", milliseconds, mode)
        by_cutoff(f"Queries a second, {text}", rate, mode)
    by_cutoff("Share of the hits of bm25 or dense", lambda at, _: at.get("agreement"))
    rows = []
    for name, engine in engines.items():
        built, megabyte = engine["build"], 1e6
        sizes = [built["memory"] / megabyte, built["disk"] / megabyte]
        opened = [engine["open"] * 1e3, engine["memory"] / megabyte]
        rows.append([name, built["seconds"], built["cpu"], *sizes, *opened])
    columns = ("engine", "build s", "CPU s", "build MB", "index MB", "open ms", "search MB")
    parts.append(table("Index", columns, rows))
    parts += [f"{name}: {reason}" for name, reason in results["skipped"].items()]
    return "\n\n".join(parts)
