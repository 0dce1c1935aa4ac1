"""A mind-map from a file of any form, and the choice of one record from a file of many."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap._builder import Notes, describe
from arena.mindmap._markdown import parse_document, read_markdown
from arena.mindmap._objects import is_node, parse_json
from arena.mindmap._read import begins_like_json, read_mind_map
from arena.mindmap.tree import MindMap

MAX_MEBIBYTES = 64
"""The largest file that is read as a whole, and the longest line of one that is not."""

_MAX_BYTES = MAX_MEBIBYTES << 20
_LINES = frozenset({".jsonl", ".ndjson"})
_MARKDOWN = frozenset({".md", ".markdown"})
_MAPS = ("mind_map", "tree", "typology", "gt")
_IDS = ("id", "survey", "corpusid", "corpus_id", "paper_id")
_NONE = frozenset({"", "none", "null"})  # a typology of ResearchArena may be the text "None"
_SHOWN = 5
_COMPARED = 10_000  # names that a wrong one is compared with, which takes a second


def read_mind_map_file(path: str | Path, record: str | None = None) -> tuple[MindMap, list[str]]:
    """Read a mind-map from a file.

    Args:
        path: A file that holds what `read_mind_map` takes, in UTF-8; or records, one a line or in
            a JSON list, each with a map under ``mind_map`` (the maps of a run), ``tree``
            (taxonomies), ``typology`` (ResearchArena) or ``gt`` (TaxoBench) and an id under ``id``,
            ``survey``, ``corpusid``, ``corpus_id`` or ``paper_id``; or maps without an id, one a
            line. Lines are read one after the other, however many there are.
        record: The id of the record, or its number from 1 if no record has that id. It may be left
            out where only one record has a map.

    Returns:
        The tree, and the repairs, as `read_mind_map` returns them.

    Raises:
        DataError: There is no such file or record; there are several records and none is named; the
            file cannot be read, is empty, no UTF-8, or larger than 64 MiB where it must be read as
            a whole; or `read_mind_map` refuses its content. The message names the file.
    """
    path = Path(path)
    with _naming(repr(str(path))):
        if path.is_dir():
            raise DataError("it is a directory: name a file.")
        if not path.exists():
            raise DataError("there is no such file.")
        if not path.is_file():
            raise DataError("it is no regular file.")
        if path.suffix.lower() in _LINES:
            chosen, notes = _choose(_lines(path), record)
        else:
            text = _text(path)
            is_markdown = path.suffix.lower() in _MARKDOWN and parse_document(text).headings > 0
            records = None if is_markdown else _records(text)
            if records is None:
                if record is not None:
                    raise DataError(
                        "it holds one mind-map and no records: leave out the record "
                        f"{clip(record)}."
                    )
                return read_markdown(text) if is_markdown else read_mind_map(text)
            chosen, notes = _choose(records, record)
        with _naming(chosen.where):
            tree, repairs = read_mind_map(chosen.value)
    return tree, [*notes, *repairs]


class _Record(NamedTuple):
    """A value of a file, and where in the file it is."""

    where: str
    value: Any


@contextlib.contextmanager
def _naming(what: str) -> Iterator[None]:
    """Put a name before the message of every error."""
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
            f"it is larger than {MAX_MEBIBYTES} MiB: no mind-map is. A file of records may have "
            "any size if it ends in .jsonl and has one record a line."
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


def _lines(path: Path) -> Iterator[_Record]:
    """Yield the values of a file that has one a line."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_BYTES + 1):
            number += 1
            with _naming(f"line {number}"):
                if len(line) > _MAX_BYTES:
                    raise DataError(f"it is longer than {MAX_MEBIBYTES} MiB.")
                text = _decoded(line).strip()
                value = parse_json(text) if text else None
            if text:
                yield _Record(f"line {number}", value)


def _records(text: str) -> Iterator[_Record] | None:
    """Return the records of a text; None if it is to be read as one mind-map."""
    if not begins_like_json(text):
        return None
    try:
        value = parse_json(text)
    except DataError:
        return _json_lines(text)
    values = value if isinstance(value, list) else [value]
    if not values or not all(map(_is_record, values)):
        return None
    return (_Record(f"record {number}", value) for number, value in enumerate(values, 1))


def _json_lines(text: str) -> Iterator[_Record] | None:
    """Return the JSON objects of a text that has one a line; None if it has none."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        first = [parse_json(line) for _, line in lines[:2]]
    except DataError:
        return None
    if not all(isinstance(value, dict) for value in first):
        return None

    def parsed() -> Iterator[_Record]:
        for number, line in lines:
            with _naming(f"line {number}"):
                value = parse_json(line)
            yield _Record(f"line {number}", value)

    return parsed()


def _choose(records: Iterable[_Record], record: str | None) -> tuple[_Record, list[str]]:
    """Return the map of the chosen record, and a note on the records passed over.

    Args:
        records: All records; only those that may be chosen are kept.
        record: The id of one, or its number from 1 if no record has that id; None for the only
            one with a map.

    Raises:
        DataError: No record or several match.
    """
    ids: list[str | None] = []
    chosen: list[_Record] = []
    numbered: list[_Record] = []
    notes = Notes()
    for number, (where, value) in enumerate(records, 1):
        name, mind_map = _read(where, value)
        ids.append(name)
        if record is None and mind_map is None:
            notes.add("records without a mind-map passed over", name or str(number))
        elif record in (None, name):
            chosen = [*chosen[:_SHOWN], _Record(where, mind_map)]
        elif record == str(number):
            numbered.append(_Record(where, mind_map))
    chosen = chosen or numbered
    if record is None:
        _check_only(ids, chosen, notes)
        return chosen[0], notes.sentences()
    if not chosen:
        named = [name for name in ids if name is not None][:_COMPARED]
        hint = did_you_mean(record, named) if named else ""
        raise DataError(
            f"none of its {len(ids):,} records has the id or number {clip(record)}.{hint}"
        )
    if len(chosen) > 1:
        places = " and ".join(one.where for one in chosen[:_SHOWN])
        raise DataError(f"{len(chosen)} records have the id {clip(record)}, {places}: make it one.")
    if chosen[0].value is None:
        raise DataError(f"{chosen[0].where}: the record {clip(record)} has no mind-map.")
    return chosen[0], []


def _check_only(ids: list[str | None], chosen: list[_Record], notes: Notes) -> None:
    if not ids:
        raise DataError("it holds no record.")
    if not chosen:
        raise DataError(f"it holds {len(ids):,} records, none with a mind-map.")
    if len(chosen) > 1:
        names = [name or f"number {number}" for number, name in enumerate(ids[:_SHOWN], 1)]
        more = ", ..." if len(ids) > _SHOWN else ""
        raise DataError(
            f"it holds {len(ids) - notes.total:,} mind-maps, "
            f"{', '.join(clip(name, 60) for name in names)}{more}: choose one by its id, or its "
            "number from 1 (--record, --beside-record, --gold-record, --predicted-record); a "
            "folder takes files of one mind-map."
        )


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
        name = value.get(key)
        if isinstance(name, str) or (isinstance(name, int) and not isinstance(name, bool)):
            return str(name)
    return None


def _read(where: str, value: object) -> tuple[str | None, Any]:
    """Return the id of a record and its map, None where it has none."""
    if not isinstance(value, dict | list):
        raise DataError(
            f"{where}: a record is {describe(value)}: expected an object with a mind-map."
        )
    if not isinstance(value, dict) or not _is_record(value):
        return None, value
    mind_map = next(value[key] for key in _MAPS if key in value)
    is_absent = isinstance(mind_map, str) and mind_map.strip().lower() in _NONE
    return _id(value), None if is_absent else mind_map
