"""Papers and surveys as the published ResearchArena data set has them, in the builder's keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.errors import DataError, clip
from arena.mindmap import MindMap, read_mind_map

_IDS = ("id", "corpusid", "corpus_id", "corpusId")
_DATES = ("publicationDate", "publicationdate", "date", "year")
_TEXTS = ("sections", "text", "content")


def identifier(record: Mapping[str, Any]) -> str:
    """Return the id of a record under any of its names, as a string.

    Raises:
        DataError: if it has none.
    """
    value = _first(record, _IDS)
    if value is None or isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"id={clip(value)}: expected a number or a string under id or corpusid.")
    return str(value)


def paper(record: Mapping[str, Any], text: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a paper; what `record` lacks is taken from `text`, its full text from both."""
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
    """Return a survey; ``mind_map`` is the ``typology`` as it stands."""
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
        DataError: if it is neither.
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
        DataError: if it is no mind-map.
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
