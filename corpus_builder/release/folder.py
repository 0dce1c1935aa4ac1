"""Find the shards of a release in a folder; refuse a folder that mixes releases."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from arena.errors import DataError, clip, did_you_mean
from corpus_builder.release.base import Shard
from corpus_builder.release.record import Record

_SUFFIXES = (".gz", ".jsonl", ".json")
_STAMP = re.compile(r"(\d{8})_\d{6}_")


class ReleaseFolder(NamedTuple):
    """A release in a folder.

    Attributes:
        release: Date of the release, from the folder or the file names; None if unknown.
        shards: Its shards, ordered by name.
    """

    release: str | None
    shards: list[Shard]


def existing_folder(name: str | Path) -> Path:
    """Return the real path of an existing folder.

    Raises:
        DataError: If it is not a folder.
    """
    path = Path(os.path.realpath(name))
    if not path.is_dir():
        problem = "is a file" if path.exists() else "does not exist"
        raise DataError(f"{str(name)!r} {problem}. Name the folder of a release.")
    return path


def find_shards(path: Path, datasets: Sequence[str], kind: str) -> ReleaseFolder:
    """Find the shards of some datasets, in ``<dataset>/`` or as ``<dataset>-*``.

    Args:
        path: The folder.
        datasets: Names of the datasets to look for; one without shards is left out.
        kind: Name of the source, for the command that completes a download.

    Raises:
        DataError: If a shard is missing or cut short, a file belongs to another release, or a
            dataset lies there in both layouts.
    """
    by_dataset = {dataset: _shards(path, dataset) for dataset in datasets}
    record = Record.read(path)
    if record is not None:
        release: str | None = _check_listed(path, record, by_dataset, kind)
    else:
        stamps = [_one_stamp(path, dataset, shards) for dataset, shards in by_dataset.items()]
        release = max((stamp for stamp in stamps if stamp), default=None)
    shards = [shard for listed in by_dataset.values() for shard in listed]
    return ReleaseFolder(release, sorted(shards, key=attrgetter("name")))


def is_shard(path: Path) -> bool:
    """Return whether a file holds records, by its name."""
    return path.name.endswith(_SUFFIXES) and not path.name.startswith(".") and path.is_file()


def make_shard(dataset: str, name: str, path: Path) -> Shard:
    """Return a shard.

    Raises:
        DataError: If the file name is not UTF-8, so that no report could name it.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DataError(f"{clip(name)}: the name of this file is no UTF-8. Rename it.") from None
    return Shard(dataset, f"{dataset}/{name}", path, path.stat().st_size)


def _shards(path: Path, dataset: str) -> list[Shard]:
    inner = path / dataset
    own = [file for file in inner.iterdir() if is_shard(file)] if inner.is_dir() else []
    flat = [
        file
        for file in path.iterdir()
        if is_shard(file) and re.match(rf"{re.escape(dataset)}[-.]", file.name)
    ]
    if own and flat:
        raise DataError(
            f"{str(path)!r} holds {dataset} twice: {len(own)} files in {dataset}/ and "
            f"{flat[0].name!r} beside it. Move one of them away."
        )
    return [make_shard(dataset, file.name, file) for file in own or flat]


def _one_stamp(path: Path, dataset: str, shards: list[Shard]) -> str | None:
    """Return the day in the names of a dataset's files; they all begin with one export time."""
    stamps: dict[str, str] = {}
    days: dict[str, str] = {}
    for shard in sorted(shards, key=attrgetter("name")):
        if match := _STAMP.match(shard.path.name):
            stamps.setdefault(match[0], shard.path.name)
            days[match[0]] = f"{match[1][:4]}-{match[1][4:6]}-{match[1][6:]}"
    if len(stamps) > 1:
        first, second, *_ = stamps.values()
        raise DataError(
            f"{str(path / dataset)!r} holds two releases mixed, {first!r} and {second!r} for one. "
            "Keep the files of one."
        )
    return next(iter(days.values()), None)


def _check_listed(path: Path, record: Record, by_dataset: dict[str, list[Shard]], kind: str) -> str:
    """Raise `DataError` if the folder holds less or more than its record; return the release."""
    release, missing, total = record.release, [], 0
    for dataset, shards in by_dataset.items():
        listed = {entry.name: entry.bytes for entry in record.datasets.get(dataset, [])}
        total += len(listed)
        there = {shard.path.name: shard.size for shard in shards}
        for name in sorted(there):
            if name not in listed:
                raise DataError(
                    f"{str(path)!r} holds release {release}, which has no {dataset}/{clip(name)}: "
                    "this file is of another release. Move it away."
                )
        for name, size in sorted(listed.items()):
            if name not in there:
                missing.append(f"{dataset}/{name}")
            elif size is not None and there[name] != size:
                missing.append(f"{dataset}/{name} ({there[name]:,} of {size:,} bytes)")
    if missing:
        names = ",".join(sorted(record.datasets))
        raise DataError(
            f"{len(missing)} of {total} shards of release {release} are missing or not "
            f"whole, {missing[0]} for one. Complete them: arena-corpus download {kind} --release "
            f"{release} --datasets {names} --output {shlex.quote(str(path))}"
        )
    return release


def no_shards(path: Path, dataset: str, layouts: str) -> DataError:
    """Return the error for a folder that lacks a required dataset."""
    inside = sorted(entry.name for entry in path.iterdir() if entry.is_dir())
    hint = did_you_mean(dataset, inside) if inside else ""
    return DataError(f"{str(path)!r} holds no shard of {dataset!r}: {layouts}.{hint}")
