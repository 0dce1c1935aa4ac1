"""A mind-map from a file of any form, and the choice of one record from a file of many."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap.builder import Notes, describe
from arena.mindmap.reading import begins_like_json, is_node, parse_json, read_mind_map
from arena.mindmap.tree import MindMap
from arena.text.display import count
from arena_suites.maps._markdown import parse_document, read_markdown

_LINES = frozenset({".jsonl", ".ndjson"})
_MAPS = ("mind_map", "tree", "typology", "gt")
_IDS = ("id", "topic_id", "survey", "corpusid", "corpus_id", "paper_id")
_NONE = frozenset({"", "none", "null"})  # a typology of ResearchArena may be the text "None"
_WITHOUT = "records without a mind-map passed over"
_SHOWN = 5

_Record = tuple[str, Any]  # where in the file it is, and its value


def read_mind_map_file(
    path: str | Path, record: str | None = None, *, option: str = "record"
) -> tuple[MindMap, list[str]]:
    """Read a mind-map from a file.

    Args:
        path: A file with what `read_mind_map` takes, in UTF-8; or records, one a line or in
            a JSON list, each with a map under ``mind_map`` (the maps of a run), ``tree``
            (taxonomies), ``typology`` (ResearchArena) or ``gt`` (TaxoBench) and an id under ``id``,
            ``survey``, ``corpusid``, ``corpus_id`` or ``paper_id``; or maps without an id, one a
            line.
        record: The id of the record, or its number from 1 if no record has that id. It may be left
            out where only one record has a map.
        option: What the caller's users call `record`, for messages.

    Returns:
        The tree, and the repairs, as `read_mind_map` returns them.
    """
    path = Path(path)
    with naming(repr(str(path))):
        content = _content(path)
        if isinstance(content, str):
            if record is not None:
                raise DataError(
                    f"it has one mind-map and no records: leave out the {option} {clip(record)}."
                )
            return (read_markdown if _is_markdown(path, content) else read_mind_map)(content)
        (where, value), notes = _choose(content, record, option)
        with naming(where):
            tree, repairs = read_mind_map(value)
    return tree, [*notes, *repairs]


def read_others(path: str | Path, tree: MindMap, most: int) -> list[MindMap]:
    """Return the first maps in a file of records that differ from `tree`, at most `most`."""

    def maps() -> Iterator[MindMap]:
        content = _content(Path(path))
        for where, value in () if isinstance(content, str) else content:
            with contextlib.suppress(DataError):
                other, _ = read_mind_map(_split(where, value)[1])
                if other != tree and other.size:
                    yield other

    return list(itertools.islice(maps(), most))


@contextlib.contextmanager
def naming(what: str) -> Iterator[None]:
    """Put a name before the message of every error."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{what}: it cannot be read: {error.strerror}.") from None
    except DataError as error:
        raise DataError(f"{what}: {error}") from None


def _content(path: Path) -> str | Iterator[_Record]:
    """Return the records of a file, or the text of one with a single mind-map."""
    if not path.is_file():
        raise DataError("it is not a file." if path.exists() else "there is no such file.")
    if path.suffix.lower() in _LINES:
        return _parsed(_lines(path))
    data = path.read_bytes()
    text = _decoded(data)
    if not text.strip():
        raise DataError("it is empty.")
    if not begins_like_json(text) or _is_markdown(path, text):
        return text
    try:
        value = parse_json(text)
    except DataError:
        lines = data.split(b"\n")
        with contextlib.suppress(DataError):  # JSON lines under another suffix
            if all(isinstance(value, dict) for _, value in itertools.islice(_parsed(lines), 2)):
                return _parsed(lines)
        return text
    values = value if isinstance(value, list) else [value]
    if not values or not all(map(_is_record, values)):
        return text
    return ((f"record {number}", value) for number, value in enumerate(values, 1))


def _is_markdown(path: Path, text: str) -> bool:
    """Return whether name and headings say so of a text, which may begin like JSON."""
    return path.suffix.lower() in (".md", ".markdown") and parse_document(text).headings > 0


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _parsed(lines: Iterable[bytes]) -> Iterator[_Record]:
    """Yield the value of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        with naming(f"line {number}"):
            text = _decoded(line).strip()
            value = parse_json(text) if text else None
        if text:
            yield f"line {number}", value


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"it is not UTF-8 (byte {error.start:,} is none): save it as UTF-8."
        ) from None


def _choose(
    records: Iterable[_Record], record: str | None, option: str
) -> tuple[_Record, list[str]]:
    """Return the chosen record's map, or the only one, and a note on the records passed over."""
    rows = [(number, where, *_split(where, v)) for number, (where, v) in enumerate(records, 1)]
    if not rows:
        raise DataError("it has no record.")
    notes, found = Notes(), [row for row in rows if record == row[2]]
    if record is None:
        found = [row for row in rows if row[3] is not None]
        for number, _, name, mind_map in rows:
            if mind_map is None:
                notes.add(_WITHOUT, name or str(number))
        if not found:
            raise DataError(f"it has {count(len(rows), 'record')}, none with a mind-map.")
        if len(found) > 1:
            names = [clip(name or f"number {n}", 60) for n, _, name, _ in found[:_SHOWN]]
            more = ", ..." if len(found) > _SHOWN else ""
            raise DataError(
                f"it has {len(found):,} mind-maps, {', '.join(names)}{more}: choose one by its "
                f"id, or its number from 1, with {option}."
            )
    found = found or [row for row in rows if record == str(row[0])]
    if not found:
        hint = did_you_mean(str(record), [name for _, _, name, _ in rows[:10_000] if name])
        raise DataError(
            f"none of its {count(len(rows), 'record')} has the id or number {clip(record)}.{hint}"
        )
    if len(found) > 1:
        where = f"{found[0][1]} and {found[1][1]}"
        raise DataError(f"{where} have the id {clip(record)}: make it one.")
    _, where, _, mind_map = found[0]
    if mind_map is None:
        raise DataError(f"{where}: the record {clip(record)} has no mind-map.")
    return (where, mind_map), notes.sentences()


def _is_record(value: object) -> bool:
    # A typology may have a heading "tree" or "survey", but hardly an id with it.
    return (
        isinstance(value, dict)
        and not is_node(value)
        and _id(value) is not None
        and any(isinstance(value.get(key, 0), dict | list | str | None) for key in _MAPS)
    )


def _id(value: dict[str, Any]) -> str | None:
    names = (value.get(key) for key in _IDS)
    return next((str(name) for name in names if type(name) in (str, int)), None)


def _split(where: str, value: object) -> tuple[str | None, Any]:
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
