"""Time search engines side by side; each must agree with an oracle before it is timed.

Every piece of work (make a collection, build an index, check it, time it once) runs in a process
of its own and is kept as one JSON file, so that an interrupted benchmark resumes.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from arena._internal.code import code_sha256
from arena._internal.files import atomic_write, write_json
from arena._internal.progress import progress
from arena._internal.workdir import OutputKind, output_directory
from arena.errors import ArenaError, CorpusError, DataError
from benchmarks import machine, vectors
from benchmarks.collection import Collection, from_corpus, synthetic
from benchmarks.engines import ENGINES
from benchmarks.oracle import check

MODES = ("single", "batch")
RESULTS, TABLES, PLOT = "results.json", "results.md", "results.svg"
PIECES, WORK, MANIFEST = "pieces", "work", "manifest.json"
_KIND = OutputKind("benchmark", MANIFEST, {"benchmark": str, "settings": dict})

Job = dict[str, Any]
"""Arguments of a piece of work, as JSON has them."""


class Settings(NamedTuple):
    """What is measured.

    Attributes:
        documents: Sizes of the collections, >= 1 each.
        engines: Registered names.
        queries, k, batch, repeats, threads: Integers >= 1; a batch may use `threads` threads.
        warm: Seconds to search before the clock starts, at least, >= 0.
        cutoffs: Percent of the documents before the cutoff, above 0, up to 100.
        seed: Of the synthetic collection and of what is sampled.
        corpus: A built corpus to take the papers from, or None.
    """

    documents: tuple[int, ...]
    engines: tuple[str, ...]
    queries: int = 128
    k: int = 100
    cutoffs: tuple[float, ...] = (1.0, 10.0, 50.0, 100.0)
    repeats: int = 5
    batch: int = 128
    threads: int = 1
    warm: float = 1.0
    seed: int = 0
    corpus: str | None = None

    def check(self) -> None:
        """Raise DataError if a number is out of its range, UnknownNameError for an engine."""
        for name in self.engines:
            ENGINES.get(name)
        for option, numbers in (
            ("--docs", self.documents),
            ("--queries", (self.queries,)),
            ("--k", (self.k,)),
            ("--repeats", (self.repeats,)),
            ("--batch", (self.batch,)),
            ("--threads", (self.threads,)),
        ):
            for number in numbers:
                if number < 1:
                    raise DataError(f"{option} {number}: give an integer >= 1.")
        if not 0 <= self.warm < float("inf"):
            raise DataError(f"--warm {self.warm:g}: give seconds >= 0.")
        if self.seed < 0:
            raise DataError(f"--seed {self.seed}: give an integer >= 0.")
        for percent in self.cutoffs:
            if not 0 < percent <= 100:
                raise DataError(f"--cutoffs {percent:g}: give percents above 0, up to 100.")
        for option, values in (
            ("--docs", self.documents),
            ("--engines", self.engines),
            ("--cutoffs", self.cutoffs),
        ):
            if not values or len(set(values)) < len(values):
                raise DataError(f"{option}: name at least one value, and none twice.")
        if self.k > min(self.documents):
            raise DataError(
                f"--k {self.k}: the smallest collection has {min(self.documents)} documents."
            )


def run(
    settings: Settings,
    output: Path,
    *,
    overwrite: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Measure what `output` does not hold yet, write the results, and return them.

    Args:
        settings: What to measure.
        output: A new directory, or that of the same benchmark, begun before.
        overwrite: Start anew in a directory that holds a benchmark.
        report: Called with a line when an engine is skipped, fails, or is done.

    Raises:
        DataError: A setting is out of its range, or no engine can run here.
        UnknownNameError: There is no engine of a name.
        CorpusError: `output` holds anything else, or another benchmark.
    """
    settings.check()
    missing = {name: ENGINES.get(name).missing() for name in settings.engines}
    if all(missing.values()):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise DataError(f"no engine can run here. {reasons}.")
    manifest = _manifest(settings)
    with output_directory(output, _KIND, overwrite=overwrite) as before:
        if before is None:  # `overwrite` has removed the manifest
            shutil.rmtree(output / PIECES, ignore_errors=True)
            shutil.rmtree(output / WORK, ignore_errors=True)
            write_json(output / MANIFEST, manifest)
        elif differing := [k for k in manifest if k != "commit" and manifest[k] != before.get(k)]:
            raise CorpusError(
                f"{str(output)!r} holds another benchmark (it differs in {', '.join(differing)}). "
                "Name another directory or pass --overwrite."
            )
        for name, reason in missing.items():
            if reason is not None:
                report(f"{name}: skipped: {reason}")
        engines = [name for name, reason in missing.items() if reason is None]
        pieces = _Pieces(output / PIECES)
        _measure(settings, engines, pieces, output / WORK, report)
        results = _collect(before or manifest, pieces, missing)
        _write(results, output)
    return results


def _manifest(settings: Settings) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(json.dumps(settings._asdict()))
    if settings.corpus is not None:
        from arena.corpus import Corpus

        described["corpus"] = Corpus.open(settings.corpus).sha256
    return {
        "benchmark": "retrieval",
        "format_version": 1,
        "settings": described,
        "machine": machine.describe(),
        "code_sha256": code_sha256(*(ENGINES.get(name) for name in settings.engines)),
        "commit": machine.commit(),
    }


class _Pieces:
    """The results that are there, one JSON file each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, name: str) -> Path:
        return self._directory / f"{name}.json"

    def read(self, name: str) -> dict[str, Any]:
        """Return the result of a piece; ``{"failed": reason}`` if it has none."""
        if not self.path(name).exists():
            return {"failed": "not done"}
        result: dict[str, Any] = json.loads(self.path(name).read_bytes())
        return result

    def done(self, name: str) -> bool:
        return "failed" not in self.read(name)

    def do(self, name: str, action: Callable[[Job], dict[str, Any]], job: Job) -> str | None:
        """Do a piece in a child process unless it is done; return why it failed, or None."""
        if self.done(name):
            return None
        result = in_child(action, job)
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path(name), result)
        return result.get("failed")


def in_child(action: Callable[[Job], dict[str, Any]], job: Job) -> dict[str, Any]:
    """Return what `action` returns in a new process that has ``job["threads"]`` cores.

    Returns:
        The result, or ``{"failed": reason}`` if the action raises or its process dies.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
    limits = {f"{name}_NUM_THREADS": str(job["threads"]) for name in names}
    before = dict(os.environ)
    os.environ.update(limits)  # libraries read these when they are imported in the child
    try:
        process = context.Process(target=_child, args=(theirs, action, job))
        process.start()
    finally:
        os.environ.clear()
        os.environ.update(before)
    theirs.close()
    try:
        result: dict[str, Any] = ours.recv()
        process.join()
    except EOFError:
        process.join()
        code = process.exitcode or 0
        reason = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        return {"failed": reason + (" (out of memory?)" if code == -9 else "")}
    finally:
        process.kill()
        process.join()
        ours.close()
    return result


def _child(pipe: Any, action: Callable[[Job], dict[str, Any]], job: Job) -> None:
    machine.limit(int(job["threads"]))
    try:
        pipe.send(action(job))
    except ArenaError as error:
        pipe.send({"failed": " ".join(str(error).split())})
    except Exception as error:
        pipe.send({"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"})


# --- the pieces ----------------------------------------------------------------------------------


def make_bandwidth(job: Job) -> dict[str, Any]:
    """Measure how fast memory is read."""
    return dict(machine.bandwidth())


def make_collection(job: Job) -> dict[str, Any]:
    """Make the collection of a size."""
    directory = _fresh(job["collection"])
    documents, queries, seed = job["documents"], job["queries"], job["seed"]
    started = time.perf_counter()
    if job["corpus"] is None:
        synthetic(directory, documents, queries, seed)
    else:
        from_corpus(directory, Path(job["corpus"]), documents, queries, seed)
    seconds = time.perf_counter() - started
    made = Collection(directory)
    ends = {f"{percent:g}": made.end(percent) for percent in job["cutoffs"]}
    return {
        "seconds": seconds,
        **{key: value for key, value in made.about.items() if key != "queries"},
        "ends": ends,
        "postings_a_query": {p: made.mean_postings(end) for p, end in ends.items()},
        "terms_a_query": sum(len(q.terms) for q in made.queries) / len(made.queries),
        "peak_memory": machine.peak_memory(),
    }


def make_vectors(job: Job) -> dict[str, Any]:
    """Make the vectors of a size."""
    started = time.perf_counter()
    vectors.write_vectors(Collection(Path(job["collection"])))
    return {"seconds": time.perf_counter() - started}


def build(job: Job) -> dict[str, Any]:
    """Build the index of one engine."""
    opened, directory = Collection(Path(job["collection"])), _fresh(job["index"])
    kind = ENGINES.get(job["engine"])
    directory.mkdir(parents=True)
    wall, cpu = time.perf_counter(), machine.cpu_seconds()
    index = kind.build(opened, directory)
    return {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": machine.cpu_seconds() - cpu,
        "bytes": sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
        "peak_memory": machine.peak_memory(),
        "index": index,
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

    It first searches for at least ``job["warm"]`` seconds, and all queries at least once, so that
    what is compiled and cached on the way is not timed. Times are integers, nanoseconds: one per
    query and cutoff alone, one per batch and cutoff.
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
        "peak_memory": machine.peak_memory(),
    }


def _timed(call: Callable[[], Any]) -> tuple[int, int]:
    """Return wall and CPU nanoseconds of a call; CPU is that of all threads of the process."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - wall, time.process_time_ns() - cpu


def _fresh(directory: str) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    return Path(directory)


# --- their order ---------------------------------------------------------------------------------


def _piece(documents: int, what: str, engine: str | None = None) -> str:
    """Return the name of a piece, which is also its path without the suffix."""
    return f"{documents}/{what}" if engine is None else f"{documents}/{_file_name(engine)}.{what}"


def _file_name(engine: str) -> str:
    return quote(engine, safe="")


def _measure(
    settings: Settings,
    engines: list[str],
    pieces: _Pieces,
    work: Path,
    report: Callable[[str], None],
) -> None:
    """Do every piece that is not done."""
    total = 1 + len(settings.documents) * (3 + len(engines) * (2 + len(MODES) * settings.repeats))
    with progress(total=total, unit="piece") as bar:

        def do(
            name: str, action: Callable[[Job], dict[str, Any]], job: Job, vital: bool = False
        ) -> None:
            bar.set_description(name)
            reason = pieces.do(name, action, {"threads": settings.threads} | job)
            bar.update()
            if reason is not None and vital:
                raise ArenaError(f"{name}: {reason}")
            if reason is not None:
                report(f"{name}: failed: {reason}")

        do("bandwidth", make_bandwidth, {}, vital=True)
        for documents in settings.documents:
            _measure_size(settings, documents, engines, pieces, work / str(documents), do, report)
            do(_piece(documents, "bandwidth"), make_bandwidth, {}, vital=True)
    shutil.rmtree(work, ignore_errors=True)


def _measure_size(
    settings: Settings,
    documents: int,
    engines: list[str],
    pieces: _Pieces,
    work: Path,
    do: Callable[..., None],
    report: Callable[[str], None],
) -> None:
    """Do what one size lacks; remove its collection and indexes afterwards."""
    timed = [f"{mode}-{repeat}" for mode in MODES for repeat in range(settings.repeats)]

    def difference(engine: str) -> str | None:
        result: str | None = pieces.read(_piece(documents, "verify", engine)).get("difference")
        return result

    def finished(engine: str) -> bool:
        names = [_piece(documents, what, engine) for what in ("build", "verify", *timed)]
        # An engine that fails the check would fail again.
        return bool(difference(engine)) or all(map(pieces.done, names))

    waiting = [name for name in engines if not finished(name)]
    if not waiting and pieces.done(_piece(documents, "collection")):
        return
    common = settings._asdict() | {
        "documents": documents,
        "collection": str(work / "collection"),
    }

    def make(action: Callable[[Job], dict[str, Any]], name: str, job: Job, path: Path) -> None:
        if not path.exists():  # done, but removed from disk since
            pieces.path(name).unlink(missing_ok=True)
        do(name, action, job, vital="engine" not in job)

    name = _piece(documents, "collection")
    make(make_collection, name, common, work / "collection")
    if any(ENGINES.get(engine).family == "dense" for engine in waiting):
        place = work / "collection" / vectors.VECTORS
        make(make_vectors, _piece(documents, "vectors"), common, place)
    jobs = {
        engine: common | {"engine": engine, "index": str(work / _file_name(engine))}
        for engine in waiting
    }
    for engine, job in jobs.items():
        make(build, _piece(documents, "build", engine), job, Path(job["index"]))
        if pieces.done(_piece(documents, "build", engine)):
            do(_piece(documents, "verify", engine), verify, job)
    sound = [
        engine
        for engine in waiting
        if all(pieces.done(_piece(documents, what, engine)) for what in ("build", "verify"))
        and not difference(engine)
    ]
    for repeat in range(settings.repeats):
        # Each repeat begins with another engine, so that none always follows the same one.
        shift = repeat % max(len(sound), 1)
        for engine in sound[shift:] + sound[:shift]:
            for mode in MODES:
                threads = 1 if mode == "single" else settings.threads
                job = jobs[engine] | {"mode": mode, "threads": threads}
                do(_piece(documents, f"{mode}-{repeat}", engine), measure, job)
    for engine in waiting:
        if reason := difference(engine):
            outcome = f"failed the check, not timed: {reason}"
        else:
            outcome = "measured" if finished(engine) else "failed"
        report(f"{documents:,} documents: {engine}: {outcome}")
    shutil.rmtree(work, ignore_errors=True)


# --- the results ---------------------------------------------------------------------------------


def _collect(
    manifest: dict[str, Any], pieces: _Pieces, missing: dict[str, str | None]
) -> dict[str, Any]:
    """Return all raw numbers, and the means, medians and quartiles computed from them."""
    settings = manifest["settings"]
    # Before everything and after every size: the best is least disturbed by other processes.
    measured = [pieces.read("bandwidth")]
    measured += [pieces.read(_piece(n, "bandwidth")) for n in settings["documents"]]
    bandwidth = {key: max(m[key] for m in measured if key in m) for key in measured[0]}
    sizes = []
    for documents in settings["documents"]:
        collection = pieces.read(_piece(documents, "collection"))
        engines = {
            name: {"status": "skipped", "reason": missing[name]}
            if missing[name]
            else _engine_results(pieces, documents, name, settings, collection, bandwidth)
            for name in settings["engines"]
        }
        sizes.append({"documents": documents, "collection": collection, "engines": engines})
    return {**manifest, "bandwidth": bandwidth, "sizes": sizes}


def _write(results: dict[str, Any], output: Path) -> None:
    """Write the JSON, the tables and, if matplotlib is there, the plot."""
    from benchmarks import report

    write_json(output / RESULTS, results)
    atomic_write(output / TABLES, report.page(results))
    plot = report.svg(results)
    if plot is not None:
        atomic_write(output / PLOT, plot)


def _engine_results(
    pieces: _Pieces,
    documents: int,
    name: str,
    settings: dict[str, Any],
    collection: dict[str, Any],
    bandwidth: dict[str, Any],
) -> dict[str, Any]:
    kind = ENGINES.get(name)
    built, checked = (pieces.read(_piece(documents, what, name)) for what in ("build", "verify"))
    described = {"family": kind.family, "native": kind.native, "build": built, "check": checked}
    if kind.family == "lexical":
        described["convention"] = kind.convention._asdict()
    if "failed" in built:
        return described | {"status": "failed", "reason": f"build: {built['failed']}"}
    if "failed" in checked:
        return described | {"status": "failed", "reason": f"check: {checked['failed']}"}
    if checked["difference"]:
        return described | {"status": "failed", "reason": checked["difference"]}
    repeats = {
        mode: [
            pieces.read(_piece(documents, f"{mode}-{repeat}", name))
            for repeat in range(settings["repeats"])
        ]
        for mode in MODES
    }
    for piece in (*repeats["single"], *repeats["batch"]):
        if "failed" in piece:
            return described | {"status": "failed", "reason": f"timing: {piece['failed']}"}
    posting = built["bytes"] / max(collection["postings"], 1)
    work = {}
    for percent, end in collection["ends"].items():
        postings = collection["postings_a_query"][percent]
        read = end * kind.bytes_a_row if kind.family == "dense" else postings * posting
        work[percent] = {
            "documents": end,
            "bytes": read,
            "floor_ms": read / bandwidth["read_one_core"] * 1e3,
        }
        if kind.family == "lexical":
            work[percent]["postings"] = postings
    return described | {
        "status": "measured",
        "documents_a_second": documents / built["wall_seconds"],
        "bytes_a_document": built["bytes"] / documents,
        **({"bytes_a_posting": posting} if kind.family == "lexical" else {}),
        "open_ms": spread([piece["open_seconds"] * 1e3 for piece in repeats["single"]]),
        "first_ms": spread([piece["first_seconds"] * 1e3 for piece in repeats["single"]]),
        "search_peak_memory": max(piece["peak_memory"] for piece in repeats["single"]),
        "work": work,
        **{mode: _times(repeats[mode], work) for mode in MODES},
        "raw": repeats,
    }


def _times(repeats: Sequence[dict[str, Any]], work: dict[str, Any]) -> dict[str, Any]:
    """Return percent -> milliseconds per query and nanoseconds per posting."""
    times: dict[str, Any] = {}
    for percent, done in work.items():
        queries = sum(repeats[0]["queries"])
        entry: dict[str, Any] = {
            f"{clock}_ms": spread([sum(r[f"{clock}_ns"][percent]) / queries / 1e6 for r in repeats])
            for clock in ("cpu", "wall")
        }
        if done.get("postings"):
            entry["cpu_ns_a_posting"] = entry["cpu_ms"]["median"] * 1e6 / done["postings"]
        if len(repeats[0]["queries"]) == queries:  # alone: one time per query
            every = np.concatenate([r["wall_ns"][percent] for r in repeats]) / 1e6
            entry["wall_ms_of_queries"] = {
                f"p{p}": float(np.percentile(every, p)) for p in (50, 95, 99)
            }
        times[percent] = entry
    return times


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"median": float(middle), "q1": float(low), "q3": float(high)}
