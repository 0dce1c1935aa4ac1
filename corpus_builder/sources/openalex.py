"""OpenAlex's works: the source named ``openalex``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip
from corpus_builder.release import RecordLimits, Release, Shard, Sink
from corpus_builder.release.folder import existing_folder, is_shard, make_shard, no_shards
from corpus_builder.release.openalex import parse_work
from corpus_builder.sources.base import SOURCES

_PLACES = ("works", "data/works", "data/jsonl/works", "jsonl/works")
_PARTITION = "updated_date="


@SOURCES.register("openalex")
class OpenAlex(Release):
    """OpenAlex's works, as JSON lines: papers, abstracts, citations, no full texts.

    Args:
        input: Folder of the snapshot, or of files of works.
        reviews: Count works of the type ``review`` as surveys.

    Raises:
        DataError: If the directory is none.
    """

    example: ClassVar[str] = "--input DIR --config configs/openalex.yaml"
    repeats: ClassVar[bool] = True  # a work that was updated stands in two folders

    def __init__(self, input: str | Path, reviews: bool = False) -> None:
        self._path = existing_folder(input)
        self._reviews = reviews

    @property
    def year(self) -> int | None:
        """The year of the latest partition, if there are partitions."""
        year = (self._latest(self.shards()) or "")[:4]
        return int(year) if year.isascii() and year.isdigit() else None

    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name: the oldest partition first."""
        works = next((w for p in _PLACES if (w := self._path / p).is_dir()), None)
        if works is None:
            works = self._path
            folders = [works, *(f for f in works.iterdir() if f.name.startswith(_PARTITION))]
            files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
        else:
            files = list(works.rglob("*"))
        by_name = {
            file.relative_to(works).as_posix(): file
            for file in files
            if is_shard(file) and file.name != "manifest.json"
        }
        if not by_name:
            raise no_shards(
                self._path,
                "works",
                "no file *.gz, works/*.gz or works/updated_date=*/*.gz. Of the snapshot's two "
                "formats take the JSON lines",
            )
        _check_manifest(works, by_name)
        shards = [make_shard("works", name, path) for name, path in by_name.items()]
        return sorted(shards, key=lambda shard: shard.name)

    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Turn one work into rows."""
        parse_work(record, sink, limits, self._reviews)

    def describe(self) -> dict[str, Any]:
        """Return the latest partition, the number of shards, and what is missing."""
        shards = self.shards()
        return {
            "source": "openalex",
            "release": self._latest(shards),
            "shards": {"works": len(shards)},
            "missing": {
                "full text": "no sections and no in-text mentions",
                "influential": "the release marks no reference as influential",
            },
            "reviews": self._reviews,
        }

    @staticmethod
    def _latest(shards: list[Shard]) -> str | None:
        days = [
            part.removeprefix(_PARTITION)
            for shard in shards
            for part in shard.name.split("/")
            if part.startswith(_PARTITION)
        ]
        return max(days, default=None)


def _check_manifest(works: Path, by_name: dict[str, Path]) -> None:
    """Raise `DataError` if the folder differs from the snapshot's own list of files, if it has one.

    A work moves to another partition when it changes: a folder into which a newer snapshot was
    laid without removing the old one holds works twice.
    """
    path = works / "manifest"
    try:
        entries = json.loads(path.read_bytes())["entries"]
        sizes = {
            str(entry["url"]).rpartition("/works/")[2]: int(entry["meta"]["content_length"])
            for entry in entries
        }
    except FileNotFoundError:
        return
    except (ValueError, LookupError, TypeError, RecursionError):
        raise DataError(f"{str(path)!r} is no list of files. Get it again, or remove it.") from None
    command = (
        'aws s3 sync --no-sign-request --delete "s3://openalex/data/works" '
        f"{shlex.quote(str(works))}"
    )
    missing = [
        name
        for name, size in sorted(sizes.items())
        if name not in by_name or by_name[name].stat().st_size != size
    ]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(sizes)} files of this snapshot are missing or not whole, "
            f"{missing[0]} for one. Complete them: {command}"
        )
    for name in sorted(by_name):
        if name not in sizes:
            raise DataError(
                f"{str(works)!r} holds {clip(name)}, which is of another snapshot. Remove what is "
                f"not of this one: {command}"
            )
