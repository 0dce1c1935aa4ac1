"""SYNERGY: the source named ``synergy``."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip
from arena.kit.files import json_value, sha256_file
from arena.text.identifiers import work_key
from corpus_builder.release import Sink
from corpus_builder.release.folder import existing_folder
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.openalex import read_abstract, work_id
from corpus_builder.sources.published import check_record, read_json

NOTE = "the reader of SYNERGY was never tried on the published files, only on made-up ones"

_LABELS, _ABOUT, _REVIEW = "labels.csv", "metadata.json", "metadata_publication.json"
_LONGEST = 1 << 20  # characters of an abstract
_WORK: dict[str, Any] = {
    "id": str, "title": str | None, "abstract_inverted_index": dict | None,
    "authorships": list | None, "referenced_works": list | None,
}  # fmt: skip


@source("synergy")
class Synergy:
    """SYNERGY: one systematic review, the works that it screened, and which it included.

    The topic is the review's title with its criteria, dated by its publication; the references are
    the works of label 1. All other works are candidates, surveys among them, but not the review.

    The forms are those of the release folders of github.com/asreview/synergy-dataset, never tried
    on the published files.

    Args:
        input: Folder of a review: labels.csv, works_*.zip or works_*.json, and its metadata.
    """

    example: ClassVar[str] = "--input Hall_2012"

    def __init__(self, input: str | Path) -> None:
        self._folder = existing_folder(input)
        self._about = self._read(_ABOUT, {"key": str, "publication": dict})
        criteria: Any = {"eligibility_criteria": str | None}
        check_record(self._about["publication"], f"{_ABOUT}: publication", criteria, "SYNERGY")
        self._review = self._read(_REVIEW, {"title": str, "publication_date": str})
        self._works = sorted(p for p in self._folder.rglob("works_*") if p.is_file())
        if not self._works:
            raise DataError(f"{str(input)!r} has no works_*.zip and no works_*.json.")

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield the works; one without a title is called by its id."""
        itself = work_key(self._review["title"])
        for name, content in self._files():
            works = json_value(content)
            listed = works if works and isinstance(works, list | dict) else [None]
            for number, work in enumerate(listed, 1):
                check_record(work, f"{name} work {number}", _WORK, "SYNERGY")
                title, index = work.get("title"), work.get("abstract_inverted_index")
                authors = [each.get("author") or {} for each in work.get("authorships") or ()]
                record = {
                    "id": work_id(work["id"]),
                    "title": title or f"[{work_id(work['id'])}]",
                    "abstract": read_abstract(index, _LONGEST, Sink()),
                    "date": work.get("publication_date") or work.get("publication_year"),
                    "doi": work.get("doi"),
                    "references": [*filter(None, map(work_id, work.get("referenced_works") or ()))],
                    "authors": [
                        each["display_name"] for each in authors if each.get("display_name")
                    ],
                    "is_survey": bool(title) and work_key(title) == itself,
                }
                yield LocatedRecord(record, name, number)

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield the review, with the works that it included."""
        title, criteria = self._review["title"], self._about["publication"]
        record = {
            "id": self._about["key"],
            "title": ". ".join(filter(None, (title, criteria.get("eligibility_criteria")))),
            "date": self._review["publication_date"],
            "references": list(self._included()),
        }
        yield LocatedRecord(record, _REVIEW, 1)

    def describe(self) -> dict[str, Any]:
        """Return the hashes of the files, and that they are not known to be the published ones."""
        read = [*(self._folder / name for name in (_LABELS, _ABOUT, _REVIEW)), *self._works]
        files = {path.relative_to(self._folder).as_posix(): sha256_file(path) for path in read}
        return {"source": "synergy", "files": files, "note": NOTE}

    def _read(self, name: str, keys: dict[str, type]) -> Any:
        return check_record(read_json(self._folder / name, {}, name), name, keys, "SYNERGY")

    def _included(self) -> Iterator[str]:
        try:
            with (self._folder / _LABELS).open(encoding="utf-8-sig", newline="") as file:
                rows = [*csv.DictReader(file)]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{_LABELS} cannot be read: {error}.") from None
        for line, row in enumerate(rows, 2):
            label, work = row.get("label_included"), row.get("openalex_id")
            if label not in ("0", "1") or (work and work_id(work) is None):
                expected = "expected openalex_id, a work's, and label_included, 0 or 1"
                raise DataError(f"{_LABELS} line {line}: {clip(row)}: {expected}.")
            if label == "1" and work:
                yield str(work_id(work))

    def _files(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file of works, in the folder and in its archives."""
        for path in self._works:
            if not zipfile.is_zipfile(path):
                yield path.name, path.read_bytes()
                continue
            try:
                with zipfile.ZipFile(path) as archive:
                    for name in sorted(n for n in archive.namelist() if n.endswith(".json")):
                        yield f"{path.name}/{name}", archive.read(name)
            except (zipfile.BadZipFile, zlib.error) as error:
                raise DataError(f"{path.name} is damaged: {error}. Get it again.") from None
