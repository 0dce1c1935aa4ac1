"""Records that hold a mind-map each, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap._building import shown
from arena.mindmap._notes import Notes
from arena.mindmap._objects import is_node

MAPS = ("mind_map", "tree", "typology", "gt")
IDS = ("id", "survey", "corpusid", "corpus_id", "paper_id")
_NONE = frozenset({"", "none", "null"})  # a typology of ResearchArena may be the text "None"
_SHOWN = 5
_COMPARED = 10_000  # names that a wrong one is compared with, which takes a second

Located = tuple[str, Any]
"""Where a value stands, and the value."""


def holds_records(value: object) -> bool:
    """Return whether this is a record, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(_is_record(element) for element in value)
    return _is_record(value)


def choose(records: Iterable[Located], record: str | None) -> tuple[str, Any, list[str]]:
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
        and any(isinstance(value.get(key, 0), dict | list | str | None) for key in MAPS)
    )


def _id(value: dict[str, Any]) -> str | None:
    for key in IDS:
        found = value.get(key)
        if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)):
            return str(found)
    return None


def _read(where: str, value: object) -> tuple[str | None, Any]:
    """Return the id of a record and its map, None where it has none."""
    if not isinstance(value, dict | list):
        raise DataError(f"{where}: a record is {shown(value)}: expected an object with a mind-map.")
    if not isinstance(value, dict) or not _is_record(value):
        return None, value
    found = next(value[key] for key in MAPS if key in value)
    if found is None or (isinstance(found, str) and found.strip().lower() in _NONE):
        return _id(value), None
    return _id(value), found
