"""Single values of a record, as releases write them: ids, titles, counts, names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from arena.errors import clip
from corpus_builder.release.base import RejectError

_MAX_ID = 256  # as in corpus_builder.records
_INT32 = 1 << 31
_INT64 = 1 << 63
_UNUSABLE = {0: "\ufffd", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


class Flaws(Protocol):
    """Where parts that are left out are told."""

    def flaw(self, reason: str, detail: str = "") -> None:
        """Note one."""
        ...


def record_of(record: object, *keys: str) -> Mapping[str, Any]:
    """Return a record that has all `keys`.

    Raises:
        RejectError: ``no object``, or ``of another dataset`` if a key is not there at all.
    """
    if type(record) is not dict:
        raise RejectError("no object", clip(record))
    for key in keys:
        if key not in record:
            raise RejectError("of another dataset", f"no {key!r}, but {clip(sorted(record)[:8])}")
    return record


def identifier(value: object) -> str | None:
    """Return an id as a string, or None: releases write it as a number or as a string.

    At most 256 printable characters without white space, since TREC files carry no others.
    """
    if type(value) is str:
        if value.isascii() and value.isalnum() and len(value) <= _MAX_ID:
            return value
        usable = value and len(value) <= _MAX_ID and value.isprintable() and not _has_space(value)
        return value if usable else None
    if type(value) is int and 0 <= value < _INT64:
        return str(value)
    return None


def required_id(value: object) -> str:
    """Return an id.

    Raises:
        RejectError: ``no id``.
    """
    found = identifier(value)
    if found is None:
        raise RejectError("no id", clip(value))
    return found


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which no table can hold, one for one by U+FFFD."""
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            pass
    return text.translate(_UNUSABLE)


def required_title(value: object) -> str:
    """Return a title on one line.

    Raises:
        RejectError: ``no title``.
    """
    title = " ".join(clean(value).split()) if type(value) is str else ""
    if not title:
        raise RejectError("no title", clip(value))
    return title


def count_of(value: object, key: str, sink: Flaws) -> int | None:
    """Return a count, None if there is none; one that is no number from 0 to 2**31 is a flaw."""
    if value is None:
        return None
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 11:
        value = int(value)
    if type(value) is int and 0 <= value < _INT32:
        return value
    sink.flaw(f"{key} unreadable", clip(value))
    return None


def names_of(values: object, key: str, sink: Flaws, *path: str) -> list[str]:
    """Return the distinct names in a list, in their order.

    Args:
        values: a list of objects; None for none.
        key: what it is called in the record, for telling flaws.
        sink: gets a flaw if it is no list, or an entry has no name.
        path: keys that lead from an entry to its name.
    """
    if values is None:
        return []
    names: dict[str, None] = {}
    unnamed: object = None
    for value in values if isinstance(values, list) else [values]:
        name: object = value
        for step in path:
            name = name.get(step) if isinstance(name, dict) else None
        if isinstance(name, str):
            if name := " ".join(clean(name).split()):
                names[name] = None
        elif unnamed is None:
            unnamed = [value]
    if unnamed is not None:
        sink.flaw(f"{key} unreadable", clip(unnamed))
    return list(names)


def first_text(values: Iterable[object]) -> str | None:
    """Return the first value that is a text with anything in it, on one line."""
    for value in values:
        if isinstance(value, str) and (text := " ".join(clean(value).split())):
            return text
    return None


def _has_space(text: str) -> bool:
    return text.split() != [text]
