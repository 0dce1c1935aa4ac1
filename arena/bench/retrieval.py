"""Run the benchmark: one process after another, each repeat of each engine in turn."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena._internal.code import code_sha256
from arena._internal.progress import progress
from arena.bench import _machine, _results
from arena.bench._jobs import Job
from arena.bench._output import PIECES, WORK, hold
from arena.bench._pieces import Pieces, file_name, piece_name
from arena.bench._vectors import VECTORS
from arena.bench.engines.base import ENGINES
from arena.bench.settings import MODES, Settings, check_settings
from arena.errors import ArenaError, DataError


def run(
    settings: Settings,
    output: Path,
    *,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Measure what `output` does not hold yet, and write the results; return them.

    Args:
        settings: what to measure.
        output: a new directory, or that of the same benchmark, begun before.
        overwrite: begin anew in a directory that holds a benchmark.
        tell: is given a line when an engine has been skipped, has failed, or is done.

    Raises:
        DataError: if a setting is out of its range, or no engine can run here.
        UnknownNameError: if there is no engine of a name.
        CorpusError: if `output` holds anything else, or another benchmark.
    """
    check_settings(settings)
    missing = {name: ENGINES.get(name).missing() for name in settings.engines}
    if all(missing.values()):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise DataError(f"no engine can run here. {reasons}.")
    with hold(output, _manifest(settings), overwrite) as manifest:
        for name, reason in missing.items():
            if reason is not None:
                tell(f"{name}: skipped: {reason}")
        engines = [name for name, reason in missing.items() if reason is None]
        _Run(settings, output, engines, tell).measure()
        results = _results.collect(manifest, Pieces(output / PIECES), missing)
        _results.write(results, output)
    return results


def _manifest(settings: Settings) -> dict[str, Any]:
    described: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in settings._asdict().items()
    }
    if settings.corpus is not None:
        from arena.corpus import Corpus

        described["corpus"] = Corpus.open(settings.corpus).sha256
    return {
        "benchmark": "retrieval",
        "format_version": 1,
        "settings": described,
        "machine": _machine.describe(),
        "code_sha256": code_sha256(*(ENGINES.get(name) for name in settings.engines)),
        "commit": _machine.commit(),
    }


class _Run:
    """The pieces of one benchmark, in the order that a resumed run keeps."""

    def __init__(
        self, settings: Settings, output: Path, engines: list[str], tell: Callable[[str], None]
    ) -> None:
        self._settings, self._engines, self._tell = settings, engines, tell
        self._work = output / WORK
        self._total = 1 + len(settings.documents) * (
            3 + len(engines) * (2 + len(MODES) * settings.repeats)
        )
        self._pieces = Pieces(output / PIECES, self._show)
        self._bar: Any = None

    def measure(self) -> None:
        """Do every piece that is not done."""
        with progress(total=self._total, unit="piece") as self._bar:
            self._do("bandwidth", {"action": "bandwidth"}, vital=True)
            for documents in self._settings.documents:
                self._size(documents)
                name = piece_name(documents, "bandwidth")
                self._do(name, {"action": "bandwidth"}, vital=True)
        shutil.rmtree(self._work, ignore_errors=True)

    def _size(self, documents: int) -> None:
        """Do what one size lacks; what lies on disk for it is removed afterwards."""
        engines = [name for name in self._engines if not self._finished(documents, name)]
        if not engines and self._pieces.done(piece_name(documents, "collection")):
            return
        work = self._work / str(documents)
        common: Job = {
            **{
                key: getattr(self._settings, key)
                for key in ("queries", "k", "batch", "seed", "corpus", "threads", "warm")
            },
            "cutoffs": list(self._settings.cutoffs),
            "documents": documents,
            "collection": str(work / "collection"),
        }
        self._make("collection", common, work / "collection")
        if any(ENGINES.get(name).family == "dense" for name in engines):
            self._make("vectors", common, work / "collection" / VECTORS)
        jobs = {
            name: common | {"engine": name, "index": str(work / file_name(name))}
            for name in engines
        }
        for name, job in jobs.items():
            self._make("build", job, Path(job["index"]))
            if self._pieces.done(piece_name(documents, "build", name)):
                self._do(piece_name(documents, "verify", name), job | {"action": "verify"})
        for repeat in range(self._settings.repeats):
            # Each repeat begins with another engine, so that none always follows the same one.
            shift = repeat % max(len(engines), 1)
            for name in engines[shift:] + engines[:shift]:
                if self._passed(documents, name):
                    self._repeat(repeat, jobs[name])
        for name in engines:
            self._tell(f"{documents:,} documents: {name}: {self._outcome(documents, name)}")
        shutil.rmtree(work, ignore_errors=True)

    def _repeat(self, repeat: int, job: Job) -> None:
        for mode in MODES:
            threads = 1 if mode == "single" else self._settings.threads
            self._do(
                piece_name(job["documents"], f"{mode}-{repeat}", job["engine"]),
                job | {"action": "measure", "mode": mode, "threads": threads},
            )

    def _make(self, action: str, job: Job, made: Path) -> None:
        """Do a piece that leaves something on disk, also if it was done and only that is gone."""
        name = piece_name(job["documents"], action, job.get("engine"))
        if not made.exists():
            self._pieces.forget(name)
        self._do(name, job | {"action": action}, vital="engine" not in job)

    def _do(self, name: str, job: Job, vital: bool = False) -> None:
        threads = job.get("threads", self._settings.threads)
        reason = self._pieces.do(name, job, threads)
        self._bar.update()
        if reason is not None and vital:
            raise ArenaError(f"{name}: {reason}")
        if reason is not None:
            self._tell(f"{name}: failed: {reason}")

    def _show(self, name: str) -> None:
        self._bar.set_description(name)

    def _passed(self, documents: int, engine: str) -> bool:
        names = (piece_name(documents, what, engine) for what in ("build", "verify"))
        return all(map(self._pieces.done, names)) and not self._difference(documents, engine)

    def _difference(self, documents: int, engine: str) -> str | None:
        found: str | None = self._pieces.read(piece_name(documents, "verify", engine)).get(
            "difference"
        )
        return found

    def _finished(self, documents: int, engine: str) -> bool:
        if self._difference(documents, engine):
            return True  # the same code would fail again
        repeats = range(self._settings.repeats)
        timed = (f"{mode}-{repeat}" for mode in MODES for repeat in repeats)
        names = (piece_name(documents, what, engine) for what in ("build", "verify", *timed))
        return all(map(self._pieces.done, names))

    def _outcome(self, documents: int, engine: str) -> str:
        difference = self._difference(documents, engine)
        if difference:
            return f"failed the check, not timed: {difference}"
        return "measured" if self._finished(documents, engine) else "failed"
