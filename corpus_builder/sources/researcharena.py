"""The published ResearchArena data set: the source named ``researcharena``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from arena._internal.files import sha256_json
from arena.errors import DataError, clip
from corpus_builder.sources.base import SOURCES, ConstructorOptions, LocatedRecord
from corpus_builder.sources.join_counts import JoinCounts
from corpus_builder.sources.matching import COUNTS
from corpus_builder.sources.researcharena_files import (
    DataFolder,
    DataSet,
    Hub,
    identifier,
    paper,
    survey,
    typology,
    with_texts,
)


@SOURCES.register("researcharena")
class ResearchArena(ConstructorOptions):
    """ResearchArena as published: surveys with references and mind-maps, and their corpus.

    ``public_*.jsonl.gz`` hold id, title and abstract of the papers, ``corpus_*.jsonl.gz`` their
    full text under the same ids (paper, section 3.4), ``survey.jsonl.gz`` the surveys.

    Args:
        input: Folder with survey.jsonl.gz, public_*.jsonl.gz and corpus_*.jsonl.gz.
        hub: Data set with the same files, read through `datasets`: haok1402/ResearchArena.
        full_text: Read the texts in ``corpus_*``, too.

    Raises:
        DataError: If both or none of `input` and `hub` are given, or a file is missing or unusable.
    """

    example: ClassVar[str] = "--input researcharena"
    downloadable: ClassVar[bool] = True
    full_text_help: ClassVar[str] = "leave out the texts in corpus_*"

    def __init__(
        self, input: str | Path | None = None, hub: str | None = None, full_text: bool = True
    ) -> None:
        if (input is None) == (hub is None):
            raise DataError("give --input, a folder, or --hub, the name of a data set.")
        data: DataSet = DataFolder(input) if input is not None else Hub(str(hub))
        self._data = data
        self._roles = [
            role
            for role in ("public", "corpus")
            if data.has(role) and (full_text or role != "corpus")
        ]
        if not self._roles:
            raise DataError(
                f"{data.name!r} holds no public_*.jsonl.gz{' or corpus_*.jsonl.gz' * full_text}: "
                "these are ResearchArena's papers. Put them beside survey.jsonl.gz."
            )
        if not data.has("survey"):
            raise DataError(f"{data.name!r} holds no survey.jsonl.gz. Put it beside the papers.")
        self._cited: set[str] = set()
        self._surveys: list[LocatedRecord] = []
        for place in data.read("survey"):
            self._surveys.append(_converted(place, survey))
        if not self._surveys:
            raise DataError(f"{data.name!r}: survey.jsonl.gz is empty.")
        for place in self._surveys:
            self._cited.update(entry["id"] for entry in place.record["references"])
            self._cited.add(place.record["id"])
        self._found: set[str] = set()
        self._read = False
        self._texts_alone = 0
        self._yields = JoinCounts()

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper, with its text if there is one."""
        self._found = set()
        for place in self._papers():
            if place.record["id"] in self._cited:
                self._found.add(place.record["id"])
            yield place
        self._read = True

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey; its typology in the project's form, without noise keys."""
        if not self._read:
            for _ in self.papers():
                pass
        self._yields = JoinCounts()
        for place in self._surveys:
            record = dict(place.record)
            self._count(record)
            try:
                tree = typology(record["mind_map"])
            except DataError:
                self._yields.unusable_map(record["id"])
                tree = None
            record["mind_map"] = None if tree is None else tree.to_json()
            yield place._replace(record=record)

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and how many references are in the corpus."""
        files = self._data.hashes
        return {
            "source": "researcharena",
            "from": self._data.name,
            "files": {"read": len(files), "sha256": sha256_json(files)},
            "texts_without_paper": self._texts_alone,
            "yield": self._yields.to_json(),
        }

    def _papers(self) -> Iterator[LocatedRecord]:
        if len(self._roles) == 1:
            for place in self._data.read(self._roles[0]):
                yield _converted(place, paper)
            return
        papers, texts = (_checked(self._data.read(role)) for role in self._roles)
        self._texts_alone = 0
        for joined in with_texts(papers, texts):
            if joined.paper is None and not joined.text.get("title"):
                self._texts_alone += 1  # a text without a title is no paper that can be found
                continue
            record = joined.text if joined.paper is None else joined.paper
            place = LocatedRecord(record, joined.file, joined.line)
            yield _converted(place, lambda record, text=joined.text: paper(record, text))

    def _count(self, record: Mapping[str, Any]) -> None:
        ids = [entry["id"] for entry in record["references"]]
        counts = self._yields.add(record["id"], dict.fromkeys(COUNTS, 0))
        distinct = set(ids)
        counts["listed"] = len(ids)
        counts["by_id"] = len(distinct & self._found)
        counts["not_found"] = len(distinct) - counts["by_id"]
        counts["repeated"] = len(ids) - len(distinct)
        counts["in_collection"] = int(record["id"] in self._found)


def _checked(places: Iterator[LocatedRecord]) -> Iterator[LocatedRecord]:
    """Raise `DataError` for a record without an id, which a join would lose silently."""
    for place in places:
        _converted(place, identifier)
        yield place


def _converted(place: LocatedRecord, convert: Any) -> LocatedRecord:
    try:
        if not isinstance(place.record, Mapping):
            raise DataError(f"{clip(place.record)} is no JSON object: this is not ResearchArena.")
        return place._replace(record=convert(place.record))
    except DataError as error:
        raise DataError(f"{place.file} line {place.line}: {error}") from None
