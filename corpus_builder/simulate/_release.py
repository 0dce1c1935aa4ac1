"""Writes a whole release, side by side, into a directory that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.workdir import only_writer, put, sync
from arena.errors import CorpusError, DataError, clip
from corpus_builder.executors import EXECUTORS, Executor
from corpus_builder.simulate._parts import Part, Written, forget, write_part
from corpus_builder.simulate._settings import VERSIONS, Settings
from corpus_builder.world import WorldConfig

RELEASE = "release.json"

_NEW = "release"
_PURPOSE = 21
_LETTERS = "abcdefghijklmnopqrstuvwxyz23456789"


def simulate(
    config: WorldConfig,
    output: str | Path,
    settings: Settings | None = None,
    *,
    workers: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a world in the format of Semantic Scholar's releases.

    The same knobs and settings give the same bytes, whatever `workers`. Every process keeps the
    world, some 550 bytes a paper, besides what it is writing.

    Args:
        config: of the world.
        output: a directory that does not exist yet, or is empty; gets a folder a dataset, with gzip
            JSON lines, and ``release.json``, as the downloader leaves them.
        settings: of the release.
        workers: processes; by default as many as this machine has processors.
        overwrite: replace a release that `output` holds already.

    Returns:
        ``release``; ``datasets``: shards, lines and bytes of each; ``bad``: bad records by kind.

    Raises:
        DataError: if a setting is out of its range, or the world cannot be.
        CorpusError: if `output` cannot be taken.
        OSError: if the disk is full or not writable; nothing is left behind.
    """
    settings = settings or Settings()
    settings.check(config)
    if workers is None:
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if workers < 1:
        raise DataError(f"workers={clip(workers)}: give at least 1.")
    with _whole_directory(Path(output), overwrite) as directory:
        parts = _parts(config, settings, directory)
        executor: Executor = EXECUTORS.get("local")(min(workers, len(parts)))
        try:
            tasks = executor.run(write_part, parts)
            bar = progress(tasks, total=len(parts), desc="simulate", unit="part")
            report, entries = _report(settings, list(bar))
        finally:
            executor.close()
            forget()
        write_json(directory / RELEASE, {"release": settings.release, "datasets": entries})
    return report


def _parts(config: WorldConfig, settings: Settings, directory: Path) -> list[Part]:
    """Return the parts: papers with their texts, and citations, apart."""
    rng = config.rng(_PURPOSE)
    second = int(rng.integers(0, 24 * 60 * 60))
    clock = f"{second // 3600:02d}{second // 60 % 60:02d}{second % 60:02d}"
    stamp = f"{settings.release.replace('-', '')}_{clock}"
    parts: list[Part] = []
    files: dict[str, list[Path]] = {}
    for dataset in settings.datasets:
        names = [
            f"{stamp}_{number:05d}_{''.join(_LETTERS[k] for k in row)}.gz"
            for number, row in enumerate(rng.integers(0, len(_LETTERS), (settings.shards, 5)))
        ]
        # No paper stands in files of the same number, as in a real release.
        turned = np.roll(np.arange(settings.shards), len(files)).tolist()
        files[dataset] = [directory / dataset / names[k] for k in turned]
    citations = files.pop("citations")
    for number in range(settings.shards):
        mine = {dataset: paths[number] for dataset, paths in files.items()}
        parts.append(Part(config, settings, number, mine))
    for number in range(settings.shards):
        parts.append(Part(config, settings, number, {"citations": citations[number]}))
    return parts


def _report(
    settings: Settings, written: list[Written]
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    entries: dict[str, list[dict[str, Any]]] = {name: [] for name in settings.datasets}
    lines = dict.fromkeys(settings.datasets, 0)
    bad: dict[str, int] = {}
    for part in written:
        for dataset, (entry, count) in part.files.items():
            entries[dataset].append(entry)
            lines[dataset] += count
        for kind, count in part.bad.items():
            bad[kind] = bad.get(kind, 0) + count
    for of in entries.values():
        of.sort(key=lambda entry: str(entry["name"]))
    datasets = {
        name: {
            "shards": len(of),
            "lines": lines[name],
            "bytes": sum(entry["bytes"] for entry in of),
        }
        for name, of in entries.items()
    }
    report = {"release": settings.release, "datasets": datasets, "bad": dict(sorted(bad.items()))}
    return report, entries


@contextmanager
def _whole_directory(output: Path, overwrite: bool) -> Iterator[Path]:
    output = Path(os.path.realpath(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    building = output.with_name(f".{output.name}.simulating")
    with only_writer(output.with_name(f"{building.name}.lock"), output):
        _check(output, overwrite)
        shutil.rmtree(building, ignore_errors=True)
        new = building / _NEW
        new.mkdir(parents=True)
        try:
            yield new
            sync(new)
            _check(output, overwrite)
            put(new, output)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _check(output: Path, overwrite: bool) -> None:
    """Refuse an output that holds anything but, if it may be replaced, a release.

    Raises:
        CorpusError: saying what to do.
    """
    if not output.exists():
        return
    if not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    names = {path.name for path in output.iterdir()}
    is_release = RELEASE in names
    known = {RELEASE, "papers", "abstracts", "citations", *VERSIONS.values()}
    others = sorted(names - known if is_release else names)
    if others:
        raise CorpusError(
            f"{str(output)!r} holds other files, {clip(others[0])} for one. "
            "Name a new or empty directory."
        )
    if is_release and not overwrite:
        raise CorpusError(
            f"{str(output)!r} already holds a release. Pass --overwrite to replace it."
        )
