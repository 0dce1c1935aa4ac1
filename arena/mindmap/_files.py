"""A mind-map from a file of any form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from arena.errors import DataError
from arena.mindmap._blocks import blocks
from arena.mindmap._json import parse
from arena.mindmap._markdown import read_markdown
from arena.mindmap._read import begins_like_json, read_mind_map
from arena.mindmap._records import Located, choose, holds_records
from arena.mindmap.tree import MindMap

MAX_MEBIBYTES = 64
"""Of a file that is read as a whole, and of a line of one that is not."""

_MAX_BYTES = MAX_MEBIBYTES << 20
_LINES = frozenset({".jsonl", ".ndjson"})
_MARKDOWN = frozenset({".md", ".markdown"})


def read_mind_map_file(path: str | Path, record: str | None = None) -> tuple[MindMap, list[str]]:
    """Read a mind-map from a file.

    Args:
        path: A file that holds what `read_mind_map` takes, in UTF-8; or records, one a line or in
            a JSON list, each with a map under ``mind_map`` (the maps of a run), ``tree``
            (taxonomies), ``typology`` (ResearchArena) or ``gt`` (TaxoBench) and an id under ``id``,
            ``survey``, ``corpusid``, ``corpus_id`` or ``paper_id``; or maps without an id, one a
            line. Lines are read one after the other, however many there are.
        record: The id of the record, or its number from 1 if that is nobody's id. It may be left
            out where only one record has a map.

    Returns:
        The tree, and what was repaired, as `read_mind_map` tells it.

    Raises:
        DataError: There is no such file or record; there are several records and none is named; the
            file cannot be read, is empty, no UTF-8, or larger than 64 MiB where it must be read as
            a whole; or `read_mind_map` refuses what it holds. The message names the file.
    """
    path = Path(path)
    with _naming(repr(str(path))):
        _check(path)
        if path.suffix.lower() in _LINES:
            with path.open("rb") as file:
                where, value, told = choose(_lines(file), record)
        else:
            text = _text(path)
            if path.suffix.lower() in _MARKDOWN and _has_heading(text):
                _refuse_record(record)
                return read_markdown(text)
            found = _records(text)
            if found is None:
                _refuse_record(record)
                return read_mind_map(text)
            where, value, told = choose(found, record)
        with _naming(where):
            tree, repairs = read_mind_map(value)
    return tree, [*told, *repairs]


def _check(path: Path) -> None:
    if path.is_dir():
        raise DataError("it is a directory: name a file.")
    if not path.exists():
        raise DataError("there is no such file.")
    if not path.is_file():
        raise DataError("it is no regular file.")


@contextlib.contextmanager
def _naming(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{what}: it cannot be read: {error.strerror}.") from None
    except DataError as error:
        raise DataError(f"{what}: {error}") from None


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise DataError(
            f"it is larger than {MAX_MEBIBYTES} MiB: no mind-map is. Records may be in a file of "
            "any size if they stand one a line, in a file that ends in .jsonl."
        )
    text = _decoded(data)
    if not text.strip():
        raise DataError("it is empty.")
    return text


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"it is not UTF-8 (byte {error.start:,} is none): convert it.") from None


def _lines(file: BinaryIO) -> Iterator[Located]:
    number = 0
    while line := file.readline(_MAX_BYTES + 1):
        number += 1
        with _naming(f"line {number}"):
            if len(line) > _MAX_BYTES:
                raise DataError(f"it is longer than {MAX_MEBIBYTES} MiB.")
            text = _decoded(line).strip()
            value = parse(text) if text else None
        if text:
            yield f"line {number}", value


def _records(text: str) -> Iterator[Located] | None:
    """Return the records of a text; None if it holds a mind-map, or is to be told as no JSON."""
    if not begins_like_json(text):
        return None
    try:
        value = parse(text)
    except DataError:
        return _lines_of(text)
    if not holds_records(value):
        return None
    values = value if isinstance(value, list) else [value]
    return ((f"record {number}", value) for number, value in enumerate(values, 1))


def _lines_of(text: str) -> Iterator[Located] | None:
    """Return JSON values that stand one a line, if two do."""
    lines = [
        (f"line {number}", line.strip())
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    try:
        first = [parse(line) for _, line in lines[:2]]
    except DataError:
        return None
    if not all(isinstance(value, dict) for value in first):
        return None
    return _parsed(lines)


def _parsed(lines: list[tuple[str, str]]) -> Iterator[Located]:
    for where, line in lines:
        with _naming(where):
            value = parse(line)
        yield where, value


def _has_heading(text: str) -> bool:
    return blocks(text).headings > 0


def _refuse_record(record: str | None) -> None:
    if record is not None:
        raise DataError(f"it holds one mind-map and no records: leave out the record {record!r}.")
