"""Find the shards of a release in a folder; refuse a folder that mixes releases."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, NonNegativeInt

from arena.errors import DataError, clip, did_you_mean
from arena.kit.files import write_json
from arena.text.display import count
from corpus_builder.release import Shard

RECORD = "release.json"
"""The release that a folder contains, and every file of its datasets."""


def safe_name(name: object, kind: str) -> str:
    """Return a name of a `kind` that a server gave, if it can name a visible file."""
    if (
        not isinstance(name, str)
        or not (name.isprintable() and name.isascii())
        or not 0 < len(name) <= 200
        or name[0] in ".~-"
        or any(letter in name for letter in '/\\:*?"<>|')
    ):
        raise DataError(f"the server names a {kind} {clip(name)}, which cannot name a file.")
    return name


class FileEntry(BaseModel, strict=True):
    """One file of a release; its size is None until it has been fetched and verified."""

    name: Annotated[str, AfterValidator(lambda name: safe_name(name, "file"))]
    bytes: NonNegativeInt | None = None


class Record(BaseModel, strict=True):
    """The content of ``release.json``: the id of a release, and all files of each dataset."""

    release: Annotated[str, AfterValidator(lambda name: safe_name(name, "release"))]
    datasets: dict[
        Annotated[str, AfterValidator(lambda name: safe_name(name, "dataset"))], list[FileEntry]
    ] = {}

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """Return the record in a folder, or None if there is none."""
        try:
            return cls.model_validate_json((folder / RECORD).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            raise DataError(
                f"{str(folder / RECORD)!r} does not say what was downloaded. Restore it, download "
                "into another folder, or remove it to build from the files as they are."
            ) from None

    def write(self, folder: Path) -> None:
        """Write the record atomically."""
        write_json(folder / RECORD, self.model_dump())


_SUFFIXES = (".gz", ".jsonl", ".json")
_STAMP = re.compile(r"\d{8}_\d{6}_")


def existing_folder(name: str | Path) -> Path:
    """Return the real path of an existing folder."""
    path = Path(os.path.realpath(name))
    if not path.is_dir():
        problem = "is a file" if path.exists() else "does not exist"
        raise DataError(f"{str(name)!r} {problem}. Name the folder of a release.")
    return path


def find_shards(
    path: Path, datasets: Sequence[str], kind: str
) -> tuple[str | None, list[Shard], str | None]:
    """Find the shards of some datasets, in ``<dataset>/`` or as ``<dataset>-*``.

    `kind` is the name of the source, for the command that completes a download.

    Returns:
        The date of the release, from the folder or the file names, None if unknown; its shards,
        ordered by name; and a note where datasets are of different months, by the file names. A
        dataset without shards is left out.
    """
    by_dataset = {dataset: _shards(path, dataset) for dataset in datasets}
    record, note = Record.read(path), None
    if record is not None:
        release: str | None = _check_listed(path, record, by_dataset, kind)
    else:
        found = {dataset: _one_stamp(path, dataset, of) for dataset, of in by_dataset.items()}
        stamps = {dataset: stamp for dataset, stamp in found.items() if stamp}
        release = max(stamps.values(), default=None)
        if len({stamp[:7] for stamp in stamps.values()}) > 1:
            days = ", ".join(f"{dataset} {stamp}" for dataset, stamp in sorted(stamps.items()))
            note = f"the datasets are of different months, and may not fit together: {days}"
    shards = [shard for listed in by_dataset.values() for shard in listed]
    return release, sorted(shards, key=attrgetter("name")), note


def year_of(release: str | None) -> int | None:
    """Return the year with which the date of a release begins, or None."""
    year = (release or "")[:4]
    return int(year) if year.isascii() and year.isdigit() else None


def is_shard(path: Path) -> bool:
    """Return whether a file contains records, by its name."""
    return path.name.endswith(_SUFFIXES) and not path.name.startswith(".") and path.is_file()


def make_shard(dataset: str, name: str, path: Path) -> Shard:
    """Return a shard."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DataError(f"{clip(name)}: the name of this file is not UTF-8. Rename it.") from None
    return Shard(dataset, f"{dataset}/{name}", path, path.stat().st_size)


def _shards(path: Path, dataset: str) -> list[Shard]:
    own = list(filter(is_shard, (path / dataset).glob("*")))
    begins = f"{dataset}-", f"{dataset}."
    flat = [file for file in path.iterdir() if is_shard(file) and file.name.startswith(begins)]
    if own and flat:
        raise DataError(
            f"{str(path)!r} contains {dataset} twice: {count(len(own), 'file')} in {dataset}/ and "
            f"{flat[0].name!r} next to it. Move one of them away."
        )
    return [make_shard(dataset, file.name, file) for file in own or flat]


def _one_stamp(path: Path, dataset: str, shards: list[Shard]) -> str | None:
    """Return the day in the names of a dataset's files; they all begin with one export time."""
    stamps: dict[str, str] = {}
    for shard in sorted(shards, key=attrgetter("name")):
        if match := _STAMP.match(shard.path.name):
            stamps.setdefault(match[0], shard.path.name)
    if len(stamps) > 1:
        first, second, *_ = stamps.values()
        raise DataError(
            f"{str(path / dataset)!r} mixes two releases, {first!r} and {second!r} for one. "
            "Keep the files of one."
        )
    return next((f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}" for stamp in stamps), None)


def _check_listed(path: Path, record: Record, by_dataset: dict[str, list[Shard]], kind: str) -> str:
    """Raise `DataError` if the folder contains less or more than its record; return the release."""
    release, missing, total = record.release, [], 0
    for dataset, shards in by_dataset.items():
        listed = {entry.name: entry.bytes for entry in record.datasets.get(dataset, [])}
        total += len(listed)
        there = {shard.path.name: shard.size for shard in shards}
        if strangers := there.keys() - listed:
            raise DataError(
                f"{str(path)!r} contains release {release}, which has no "
                f"{dataset}/{clip(min(strangers))}: this file is of another release. Move it away."
            )
        for name, size in sorted(listed.items()):
            if name not in there:
                missing.append(f"{dataset}/{name}")
            elif size is not None and there[name] != size:
                missing.append(f"{dataset}/{name} ({there[name]:,} of {size:,} bytes)")
    if missing:
        names = ",".join(sorted(record.datasets))
        raise DataError(
            f"{len(missing)} of {count(total, 'shard')} of release {release} are missing or not "
            f"whole, {missing[0]} for one. Complete them: arena-corpus download {kind} --release "
            f"{release} --datasets {names} --output {shlex.quote(str(path))}"
        )
    return release


def no_shards(path: Path, dataset: str, layouts: str) -> DataError:
    """Return the error for a folder that lacks a required dataset."""
    inside = sorted(entry.name for entry in path.iterdir() if entry.is_dir())
    hint = did_you_mean(dataset, inside) if inside else ""
    return DataError(f"{str(path)!r} contains no shard of {dataset!r}: {layouts}.{hint}")
