"""A mind-map from a file of any form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap._builder import Notes, describe
from arena.mindmap._markdown import parse_document, read_markdown
from arena.mindmap._objects import is_node, parse_json
from arena.mindmap._read import begins_like_json, read_mind_map
from arena.mindmap.tree import MindMap

MAX_MEBIBYTES = 64
"""Of a file that is read as a whole, and of a line of one that is not."""

_MAX_BYTES = MAX_MEBIBYTES << 20
_LINES = frozenset({".jsonl", ".ndjson"})
_MARKDOWN = frozenset({".md", ".markdown"})
_MAPS = ("mind_map", "tree", "typology", "gt")
_IDS = ("id", "survey", "corpusid", "corpus_id", "paper_id")
_NONE = frozenset({"", "none", "null"})  # a typology of ResearchArena may be the text "None"
_SHOWN = 5
_COMPARED = 10_000  # names that a wrong one is compared with, which takes a second

_Located = tuple[str, Any]
"""Where a value stands, and the value."""


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
                where, value, told = _choose(_lines(file), record)
        else:
            text = _text(path)
            if path.suffix.lower() in _MARKDOWN and _has_heading(text):
                _refuse_record(record)
                return read_markdown(text)
            found = _records(text)
            if found is None:
                _refuse_record(record)
                return read_mind_map(text)
            where, value, told = _choose(found, record)
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


def _lines(file: BinaryIO) -> Iterator[_Located]:
    number = 0
    while line := file.readline(_MAX_BYTES + 1):
        number += 1
        with _naming(f"line {number}"):
            if len(line) > _MAX_BYTES:
                raise DataError(f"it is longer than {MAX_MEBIBYTES} MiB.")
            text = _decoded(line).strip()
            value = parse_json(text) if text else None
        if text:
            yield f"line {number}", value


def _records(text: str) -> Iterator[_Located] | None:
    """Return the records of a text; None if it holds a mind-map, or is to be told as no JSON."""
    if not begins_like_json(text):
        return None
    try:
        value = parse_json(text)
    except DataError:
        return _lines_of(text)
    if not _holds_records(value):
        return None
    values = value if isinstance(value, list) else [value]
    return ((f"record {number}", value) for number, value in enumerate(values, 1))


def _lines_of(text: str) -> Iterator[_Located] | None:
    """Return JSON values that stand one a line, if two do."""
    lines = [
        (f"line {number}", line.strip())
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    try:
        first = [parse_json(line) for _, line in lines[:2]]
    except DataError:
        return None
    if not all(isinstance(value, dict) for value in first):
        return None
    return _parsed(lines)


def _parsed(lines: list[tuple[str, str]]) -> Iterator[_Located]:
    for where, line in lines:
        with _naming(where):
            value = parse_json(line)
        yield where, value


def _has_heading(text: str) -> bool:
    return parse_document(text).headings > 0


def _refuse_record(record: str | None) -> None:
    if record is not None:
        raise DataError(f"it holds one mind-map and no records: leave out the record {record!r}.")


# Records that hold a mind-map each


def _holds_records(value: object) -> bool:
    """Return whether this is a record, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(_is_record(element) for element in value)
    return _is_record(value)


def _choose(records: Iterable[_Located], record: str | None) -> tuple[str, Any, list[str]]:
    """Return where the chosen record stands, its map, and what was passed over.

    Args:
        records: All records; only what may be chosen is kept.
        record: Its id, or its number from 1 if that is nobody's id, or None for the only one.

    Raises:
        DataError: None or several are meant.
    """
    ids: list[str | None] = []
    numbered: tuple[str, Any] | None = None
    matching: list[tuple[str, Any]] = []
    without: list[str] = []
    for number, (where, value) in enumerate(records, 1):
        name, found = _read(where, value)
        ids.append(name)
        if record is not None and name == record:
            matching.append((where, found))
        elif record == str(number):
            numbered = (where, found)
        elif record is None:
            if found is None:
                without.append(name or str(number))
            else:
                matching = [*matching[:1], (where, found)]
    if record is None:
        return _only(ids, matching, without)
    chosen = matching or ([numbered] if numbered else [])
    if not chosen:
        raise _unknown(ids, record)
    if len(chosen) > 1:
        places = " and ".join(where for where, _ in chosen[:_SHOWN])
        raise DataError(f"{len(chosen)} records have the id {clip(record)}, {places}: make it one.")
    where, found = chosen[0]
    if found is None:
        raise DataError(f"{where}: the record {clip(record)} has no mind-map.")
    return where, found, []


def _only(
    ids: list[str | None], matching: list[tuple[str, Any]], without: list[str]
) -> tuple[str, Any, list[str]]:
    if not ids:
        raise DataError("it holds no record.")
    if not matching:
        raise DataError(f"it holds {len(ids):,} records, none with a mind-map.")
    if len(matching) > 1:
        raise DataError(
            f"it holds {len(ids) - len(without):,} mind-maps, {_listed(ids)}: choose one by "
            "its id, or its number from 1 (--record, --beside-record, --gold-record, "
            "--predicted-record); a folder takes files of one mind-map."
        )
    notes = Notes()
    for name in without:
        notes.add("records without a mind-map passed over", name)
    return *matching[0], notes.sentences()


def _listed(ids: list[str | None]) -> str:
    names = [name or f"number {number}" for number, name in enumerate(ids[:_SHOWN], 1)]
    more = ", ..." if len(ids) > _SHOWN else ""
    return ", ".join(clip(name, 60) for name in names) + more


def _unknown(ids: list[str | None], record: str) -> DataError:
    named = [name for name in ids if name is not None][:_COMPARED]
    hint = did_you_mean(record, named) if named else ""
    return DataError(f"none of its {len(ids):,} records has the id or number {clip(record)}.{hint}")


def _is_record(value: object) -> bool:
    # A typology may have a heading "tree" or "survey", but hardly an id beside it.
    return (
        isinstance(value, dict)
        and not is_node(value)
        and _id(value) is not None
        and any(isinstance(value.get(key, 0), dict | list | str | None) for key in _MAPS)
    )


def _id(value: dict[str, Any]) -> str | None:
    for key in _IDS:
        found = value.get(key)
        if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)):
            return str(found)
    return None


def _read(where: str, value: object) -> tuple[str | None, Any]:
    """Return the id of a record and its map, None where it has none."""
    if not isinstance(value, dict | list):
        raise DataError(
            f"{where}: a record is {describe(value)}: expected an object with a mind-map."
        )
    if not isinstance(value, dict) or not _is_record(value):
        return None, value
    found = next(value[key] for key in _MAPS if key in value)
    if found is None or (isinstance(found, str) and found.strip().lower() in _NONE):
        return _id(value), None
    return _id(value), found
