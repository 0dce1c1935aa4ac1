"""The published ResearchArena data set: files in a folder or through ``datasets``, and records."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from arena.errors import DataError, clip
from arena.mindmap import MindMap, read_mind_map
from corpus_builder.sources.base import LocatedRecord
from corpus_builder.sources.jsonl import JsonLinesFile, parse_line

PATTERNS = {
    "survey": ("survey.jsonl.gz", "survey.jsonl"),
    "public": ("public_*.jsonl.gz", "public_*.jsonl"),
    "corpus": ("corpus_*.jsonl.gz", "corpus_*.jsonl"),
}


class DataSet(Protocol):
    """Files in three roles: ``survey``, ``public``, ``corpus``.

    Attributes:
        name: Name of the folder or the data set, without the path.
        hashes: SHA-256 of each file read so far, by name.
    """

    name: str
    hashes: dict[str, str]

    def has(self, role: str) -> bool:
        """Return whether there is a file in this role."""
        ...

    def read(self, role: str) -> Iterator[LocatedRecord]:
        """Yield the records of all files in this role."""
        ...


class DataFolder:
    """Files in a folder.

    Raises:
        DataError: If there is no such folder.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if not self._path.is_dir():
            problem = "is no folder" if self._path.exists() else "does not exist"
            raise DataError(
                f"{str(path)!r} {problem}. Name the folder with {PATTERNS['survey'][0]}."
            )
        self.name = self._path.resolve().name
        self.hashes: dict[str, str] = {}

    def has(self, role: str) -> bool:
        """Return whether there is a file in this role."""
        return bool(self._files(role))

    def read(self, role: str) -> Iterator[LocatedRecord]:
        """Yield the records of all files in this role, by name."""
        for path in self._files(role):
            file = JsonLinesFile(path, "surveys" if role == "survey" else "papers")
            yield from file
            self.hashes[file.name] = file.sha256

    def _files(self, role: str) -> list[Path]:
        return sorted(path for pattern in PATTERNS[role] for path in self._path.glob(pattern))


class Hub:
    """Files of a data set that `datasets.load_dataset` knows, streamed.

    Args:
        name: Name on the Hugging Face Hub, or a folder.

    Raises:
        DataError: If the package is missing.
    """

    def __init__(self, name: str) -> None:
        try:
            import datasets  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
        except ImportError:
            raise DataError(
                "--hub needs the package datasets. Install it with "
                "`pip install 'researcharena[hub]'`, or download the files and pass --input."
            ) from None
        self._full_name = name
        self._place = name if os.path.isdir(name) else f"hf://datasets/{name}"  # noqa: PTH112
        self.name = Path(name).resolve().name if os.path.isdir(name) else name  # noqa: PTH112
        self.hashes: dict[str, str] = {}  # a stream has none
        self._found: dict[str, Any] = {}

    def has(self, role: str) -> bool:
        """Return whether there is a file in this role."""
        return self._stream(role) is not None

    def read(self, role: str) -> Iterator[LocatedRecord]:
        """Yield the records of all files in this role, in the order of the stream."""
        try:
            for number, row in enumerate(self._stream(role) or (), 1):
                if row["text"].strip():
                    name = f"{self.name} {role}"
                    yield LocatedRecord(
                        parse_line(row["text"].encode(), name, number), name, number
                    )
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self._full_name!r}, {role}: {_told(error)}") from None

    def _stream(self, role: str) -> Any:
        if role not in self._found:
            self._found[role] = self._open(role)
        return self._found[role]

    def _open(self, role: str) -> Any:
        from datasets import load_dataset

        for pattern in PATTERNS[role]:
            # As text: the reader of JSON would make a timestamp of what looks like a date, and
            # refuse a file in which a key has values of two types.
            files = {role: f"{self._place}/{pattern}"}
            try:
                stream = load_dataset("text", data_files=files, split=role, streaming=True)
                if next(iter(stream), None) is not None:  # a pattern may fit no file
                    return stream
            except FileNotFoundError:  # no such file in the data set, or no such data set
                continue
            except Exception as error:  # of whichever client it uses
                raise DataError(f"{self._full_name!r} cannot be loaded: {_told(error)}") from None
        return None


def _told(error: Exception) -> str:
    return f"{clip(' '.join(str(error).split()), 200)} ({type(error).__name__})."


_MEMORY = 10**9


class WithText(NamedTuple):
    """A paper and its text, one of which may be None, with file and line."""

    paper: Any
    text: Any
    file: str
    line: int


def with_texts(
    papers: Iterator[LocatedRecord], texts: Iterator[LocatedRecord]
) -> Iterator[WithText]:
    """Yield every paper and every text, those of one id together, in any order.

    Both are written below the directory for temporary files (``TMPDIR``) as Parquet first, which
    takes about the size of the packed input, and as much again while they are joined.
    """
    import pyarrow as pa

    from corpus_builder._duckdb import connected, literal, rows
    from corpus_builder._parquet import RowWriter

    schema = pa.schema([("id", pa.string()), ("record", pa.string()), ("file", pa.string()),
                        ("line", pa.int64())])  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="researcharena-") as name:
        directory = Path(name)
        sides = directory / "papers.parquet", directory / "texts.parquet"
        for records, path in zip((papers, texts), sides, strict=True):
            with RowWriter(path, schema) as writer:
                for place in records:
                    record = json.dumps(place.record)
                    writer.add((identifier(place.record), record, place.file, place.line))
        with connected(directory / "spill", _MEMORY, 1) as connection:
            left, right = map(literal, sides)
            for paper, text, file, line in rows(
                connection,
                "SELECT p.record, t.record, coalesce(p.file, t.file), coalesce(p.line, t.line) "
                f"FROM read_parquet({left}) p FULL JOIN read_parquet({right}) t USING (id)",
            ):
                yield WithText(_read(paper), _read(text), file, line)


def _read(record: str | None) -> Any:
    return None if record is None else json.loads(record)


_IDS = ("id", "corpusid", "corpus_id", "corpusId")
_DATES = ("publicationDate", "publicationdate", "date", "year")
_TEXTS = ("sections", "text", "content")


def identifier(record: Mapping[str, Any]) -> str:
    """Return the id of a record under any of its names, as a string.

    Raises:
        DataError: If it has none.
    """
    value = _first(record, _IDS)
    if value is None or isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"id={clip(value)}: expected a number or a string under id or corpusid.")
    return str(value)


def paper(record: Mapping[str, Any], text: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a paper from both records; `text` fills in what `record` lacks."""
    whole = {**(text or {}), **{key: value for key, value in record.items() if value is not None}}
    return {
        "id": identifier(record),
        "title": whole.get("title"),
        "abstract": whole.get("abstract"),
        "date": _first(whole, _DATES),
        "fields": whole.get("subjects") or whole.get("fields"),
        "sections": list(_sections(_first(whole, _TEXTS))),
        "references": list(references(whole.get("references"))),
    }


def survey(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a survey; ``mind_map`` is the unchanged ``typology``."""
    listed = list(references(record.get("references")))
    total = record.get("referenceCount")
    return {
        "id": identifier(record),
        "title": record.get("title"),
        "abstract": record.get("abstract"),
        "date": _first(record, _DATES),
        "fields": record.get("subjects"),
        "references": listed,
        "n_references_total": _count(total, {entry["id"] for entry in listed}),
        "mind_map": record.get("typology"),
    }


def references(value: object) -> Iterator[dict[str, Any]]:
    """Yield ``{id, influential}`` of a list of ids or of ``{"influential": [], "relevant": []}``.

    Raises:
        DataError: If it is neither.
    """
    if value is None:
        return
    lists = value if isinstance(value, Mapping) else {"relevant": value}
    for kind in ("influential", "relevant"):
        ids = lists.get(kind)
        if not isinstance(ids, list | None):
            raise DataError(f"references: {kind}={clip(ids)}: expected a list of ids.")
        for entry in ids or ():
            entry = {"id": entry} if isinstance(entry, str | int) else entry
            if not isinstance(entry, Mapping):
                raise DataError(f"references: {kind} holds {clip(entry)}: expected ids.")
            yield {"id": identifier(entry), "influential": kind == "influential"}


def typology(value: object) -> MindMap | None:
    """Return the mind-map of a ``typology``; None if it is null or has no heading.

    Noise keys such as ``example`` are dropped.

    Raises:
        DataError: If it is no mind-map.
    """
    if value is None:
        return None
    tree, _ = read_mind_map(value)
    return tree if tree.size else None


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _count(value: object, listed: set[str]) -> int:
    if value is None:
        return len(listed)
    text = str(value).strip()
    if not (text.isdecimal() and text.isascii()) or len(text) > 9:
        raise DataError(f"referenceCount={clip(value)}: expected a number, also as a string.")
    return int(text)


def _sections(value: object) -> Iterator[dict[str, str]]:
    if isinstance(value, Mapping):  # as in S2ORC: {"source": ..., "text": ..., "annotations": ...}
        value = value.get("text")
    if isinstance(value, str):
        yield {"heading": "", "text": value}
        return
    if not isinstance(value, list | None):
        raise DataError(f"full text {clip(value)}: expected a string or a list of sections.")
    for section in value or ():
        if isinstance(section, str):
            yield {"heading": "", "text": section}
        elif isinstance(section, Mapping):
            heading, text = section.get("heading") or section.get("section"), section.get("text")
            yield {"heading": str(heading or ""), "text": str(text or "")}
        else:
            raise DataError(f"full text holds {clip(section)}: expected {{heading, text}}.")
