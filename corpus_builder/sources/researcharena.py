"""The published ResearchArena data set: the source named ``researcharena``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip
from arena.kit.files import sha256_json
from arena.mindmap import MindMap, read_mind_map
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import COUNTS, JoinCounts
from corpus_builder.sources.published import DatesFile

_PATTERNS = {"survey": "survey.jsonl", "public": "public_*.jsonl", "corpus": "corpus_*.jsonl"}
_IDS = ("id", "corpusid", "corpus_id", "corpusId")
_DATES = ("publicationDate", "publicationdate", "date", "year")
_TEXTS = ("sections", "text", "content")
_MEMORY = 10**9


@source("researcharena")
class ResearchArena:
    """ResearchArena as published: surveys with references and mind-maps, and their corpus.

    ``public_*.jsonl.gz`` have id, title and abstract of the papers, ``corpus_*.jsonl.gz`` their
    full text under the same ids (paper, section 3.4), ``survey.jsonl.gz`` the surveys.

    Args:
        input: Folder with survey.jsonl.gz, public_*.jsonl.gz and corpus_*.jsonl.gz.
        full_text: Texts in ``corpus_*``, part of the corpus unless they are left out.
        dates: Dates of papers and surveys, used first: JSON lines or CSV with id and date.
    """

    example: ClassVar[str] = "--input researcharena"

    def __init__(
        self, input: str | Path, full_text: bool = True, dates: str | Path | None = None
    ) -> None:
        self._dates = None if dates is None else DatesFile(dates)
        folder = Path(input)
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise DataError(f"{str(folder)!r} {problem}. Name the folder with survey.jsonl.gz.")
        self._name, self._hashes = folder.resolve().name, dict[str, str]()
        self._files = {
            role: sorted([*folder.glob(f"{pattern}.gz"), *folder.glob(pattern)])
            for role, pattern in _PATTERNS.items()
        }
        roles = ("public", "corpus") if full_text else ("public",)
        self._roles = [role for role in roles if self._files[role]]
        if not self._roles:
            raise DataError(
                f"{self._name!r} has no public_*.jsonl.gz{' or corpus_*.jsonl.gz' * full_text}: "
                "these are ResearchArena's papers. Put them next to survey.jsonl.gz."
            )
        if not self._files["survey"]:
            raise DataError(f"{self._name!r} has no survey.jsonl.gz. Put it next to the papers.")
        self._surveys = [self._dated(_converted(place, survey)) for place in self._read("survey")]
        self._cited = {place.record["id"] for place in self._surveys}
        for place in self._surveys:
            self._cited.update(entry["id"] for entry in place.record["references"])
        self._found: set[str] | None = None  # of those cited, once the papers are read
        self._texts_alone = 0
        self._yields = JoinCounts()

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper, with its text if there is one, and the surveys that are not there.

        A survey's subjects are the fields of its paper.
        """
        found: set[str] = set()
        surveys = {place.record["id"]: place for place in self._surveys}
        for place in self._papers():
            found.add(place.record["id"])
            own = surveys.get(place.record["id"])
            if own is not None and not place.record["fields"]:
                place = place._replace(record=place.record | {"fields": own.record["fields"]})
            yield self._dated(place)
            found &= self._cited
        self._found = found
        for place in (surveys[survey_id] for survey_id in surveys if survey_id not in found):
            known = {name: place.record[name] for name in ("id", "title", "abstract", "date")}
            fields = place.record["fields"]
            yield place._replace(record={**known, "fields": fields, "is_survey": True})

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey; its typology in the project's form, without noise keys."""
        if self._found is None:
            for _ in self.papers():
                pass
        assert self._found is not None
        self._yields = JoinCounts()
        for place in self._surveys:
            record = place.record
            ids = [entry["id"] for entry in record["references"]]
            found = len(set(ids) & self._found)
            self._yields.surveys[record["id"]] = dict.fromkeys(COUNTS, 0) | {
                "listed": len(ids),
                "by_id": found,
                "not_found": len(set(ids)) - found,
                "repeated": len(ids) - len(set(ids)),
                "in_collection": int(record["id"] in self._found),
            }
            tree = None
            try:
                tree = typology(record["mind_map"])
            except DataError:
                self._yields.unusable.append(record["id"])
            yield place._replace(record=record | {"mind_map": tree and tree.to_json()})

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and how many references are in the corpus."""
        return {
            "source": "researcharena",
            "from": self._name,
            "files": {"read": len(self._hashes), "sha256": sha256_json(self._hashes)},
            "texts_without_paper": self._texts_alone,
            "yield": self._yields.to_json(),
        }

    def _dated(self, place: LocatedRecord) -> LocatedRecord:
        """Return a record with its date in the file of dates, if it has one there."""
        date = self._dates and self._dates.find((place.record["id"],), "")
        return place._replace(record=place.record | {"date": date}) if date else place

    def _read(self, role: str) -> Iterator[LocatedRecord]:
        for path in self._files[role]:
            file = JsonLinesFile(path, "surveys" if role == "survey" else "papers")
            yield from file
            self._hashes[file.name] = file.sha256

    def _papers(self) -> Iterator[LocatedRecord]:
        if len(self._roles) == 1:
            for place in self._read(self._roles[0]):
                yield _converted(place, paper)
            return
        self._texts_alone = 0
        for record, text, file, line in _with_texts(*map(self._read, self._roles)):
            if record is None and not text.get("title"):
                self._texts_alone += 1  # nobody can find a text without a title
                continue
            place = LocatedRecord(text if record is None else record, file, line)
            yield _converted(place, partial(paper, text=text))


def _converted(place: LocatedRecord, convert: Callable[[Any], Any]) -> LocatedRecord:
    try:
        if not isinstance(place.record, Mapping):
            raise DataError(
                f"{clip(place.record)} is not a JSON object: this is not ResearchArena."
            )
        return place._replace(record=convert(place.record))
    except DataError as error:
        raise DataError(f"{place.file} line {place.line}: {error}") from None


def _with_texts(
    papers: Iterator[LocatedRecord], texts: Iterator[LocatedRecord]
) -> Iterator[tuple[Any, Any, str, int]]:
    """Yield (paper, text, file, line) of every paper and every text; one of them may be None.

    Both are written below the directory for temporary files (``TMPDIR``) as Parquet first, which
    takes about the size of the packed input, and as much again while they are joined.
    """
    from corpus_builder.database import connected, literal, rows
    from corpus_builder.files import RowWriter, schema

    with tempfile.TemporaryDirectory(prefix="researcharena-") as name:
        directory = Path(name)
        sides = directory / "papers.parquet", directory / "texts.parquet"
        for records, path in zip((papers, texts), sides, strict=True):
            with RowWriter(path, schema("id record file line:int64")) as writer:
                for place in records:  # one without an id would be lost silently
                    key = _converted(place, _identifier).record
                    writer.add((key, json.dumps(place.record), place.file, place.line))
        with connected(directory / "spill", _MEMORY, 1) as connection:
            left, right = map(literal, sides)
            for paper_text, text, file, line in rows(
                connection,
                "SELECT p.record, t.record, coalesce(p.file, t.file), coalesce(p.line, t.line) "
                f"FROM read_parquet({left}) p FULL JOIN read_parquet({right}) t USING (id)",
            ):
                yield json.loads(paper_text or "null"), json.loads(text or "null"), file, line


def paper(record: Mapping[str, Any], text: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a paper from both records; `text` fills in what `record` lacks."""
    whole = {**(text or {}), **{key: value for key, value in record.items() if value is not None}}
    return {
        "id": _identifier(record),
        "title": whole.get("title"),
        "abstract": whole.get("abstract"),
        "date": _first(whole, _DATES),
        "fields": whole.get("subjects") or whole.get("fields"),
        "sections": list(_sections(_first(whole, _TEXTS))),
        "references": list(_references(whole.get("references"))),
    }


def survey(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a survey; ``mind_map`` is the unchanged ``typology``."""
    listed = list(_references(record.get("references")))
    total = record.get("referenceCount")
    text = str(len({entry["id"] for entry in listed}) if total is None else total).strip()
    if not (text.isdecimal() and text.isascii()) or len(text) > 9:
        raise DataError(f"referenceCount={clip(total)}: expected a number, also as a string.")
    return {
        "id": _identifier(record),
        "title": record.get("title"),
        "abstract": record.get("abstract"),
        "date": _first(record, _DATES),
        "fields": record.get("subjects"),
        "references": listed,
        "n_references_total": int(text),
        "mind_map": record.get("typology"),
    }


def typology(value: object) -> MindMap | None:
    """Return the mind-map of a ``typology``; None if it is null or has no heading.

    Noise keys such as ``example`` are dropped.
    """
    tree = None if value is None else read_mind_map(value)[0]
    return tree if tree and tree.size else None


def _identifier(record: Mapping[str, Any]) -> str:
    value = _first(record, _IDS)
    if value is None or isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"id={clip(value)}: expected a number or a string under id or corpusid.")
    return str(value)


def _references(value: object) -> Iterator[dict[str, Any]]:
    """Yield ``{id, influential}`` of a list of ids or of ``{influential: [], relevant: []}``."""
    lists = value if isinstance(value, Mapping) else {"relevant": value}
    for kind in ("influential", "relevant"):
        ids = lists.get(kind)
        if not isinstance(ids, list | None):
            raise DataError(f"references: {kind}={clip(ids)}: expected a list of ids.")
        for entry in ids or ():
            entry = {"id": entry} if isinstance(entry, str | int) else entry
            if not isinstance(entry, Mapping):
                raise DataError(f"references: {kind} contains {clip(entry)}: expected ids.")
            yield {"id": _identifier(entry), "influential": kind == "influential"}


def _sections(value: object) -> Iterator[dict[str, str]]:
    if isinstance(value, Mapping):  # as in S2ORC: {"source": ..., "text": ..., "annotations": ...}
        value = value.get("text")
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list | None):
        raise DataError(f"full text {clip(value)}: expected a string or a list of sections.")
    for section in value or ():
        section = {"text": section} if isinstance(section, str) else section
        if not isinstance(section, Mapping):
            raise DataError(f"full text contains {clip(section)}: expected {{heading, text}}.")
        heading = section.get("heading") or section.get("section")
        yield {"heading": str(heading or ""), "text": str(section.get("text") or "")}


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
