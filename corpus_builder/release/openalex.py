"""Convert works of OpenAlex into rows."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

from arena.errors import clip
from corpus_builder.records import title_key
from corpus_builder.release.base import RecordLimits, RejectError, Sink
from corpus_builder.release.values import (
    clean,
    coarsen,
    count_of,
    first_text,
    names_of,
    read_json,
    record_of,
    required_title,
    resolve,
)

NO_PAPERS = frozenset(
    ("dataset", "erratum", "grant", "libguides", "paratext", "peer-review", "retraction",
     "software", "supplementary-materials")
)  # fmt: skip
"""Types of works that nobody would list as literature, or that are part of another work."""


def work_id(value: object) -> str | None:
    """Return ``W123`` of ``https://openalex.org/W123``; None if it is no work.

    >>> work_id("https://openalex.org/W123"), work_id("https://openalex.org/A123")
    ('W123', None)
    """
    if not isinstance(value, str) or len(value) > 100:
        return None
    name = value.rpartition("/")[2]
    digits = name[1:]
    return name if name[:1] == "W" and digits.isascii() and digits.isdigit() else None


def parse_work(record: Any, sink: Sink, limits: RecordLimits, reviews: bool) -> None:
    """Add a work: paper, abstract, and citations.

    Args:
        record: Record of the entity ``works``.
        sink: Collects the rows.
        limits: Limits of plausible dates and of the characters of an abstract.
        reviews: Count a work of the type ``review`` as a survey.

    Raises:
        RejectError: If it is no work, or has no title.
    """
    record = record_of(record, "id", "publication_year")
    work, kind = work_id(record["id"]), record.get("type")
    if work is None:
        raise RejectError("no id", clip(record["id"]))
    if record.get("is_paratext") is True:
        kind = "paratext"
    if isinstance(kind, str) and kind in NO_PAPERS:
        sink.skip(f"no paper: {kind}")
        return
    title = required_title(first_text((record.get("title"), record.get("display_name"))))
    day, precision = resolve(
        coarsen(record.get("publication_date"), "year"),
        record["publication_year"],
        sink,
        limits,
    ) or (None, None)
    cited, total = _references(work, record, sink)
    row = (
        work,
        title,
        title_key(title),
        day,
        precision,
        reviews and kind == "review",
        total,
        _venue(record),
        names_of(record.get("authorships"), "authorships", sink, "author", "display_name"),
        _fields(record, sink),
    )
    sink.add("papers", row)
    abstract = read_abstract(record.get("abstract_inverted_index"), limits.characters, sink)
    if abstract:
        sink.add("abstracts", (work, abstract))
    for other in cited:
        sink.add("citations", (work, other, False))


def read_abstract(value: object, characters: int, sink: Sink) -> str:
    """Return the text of an inverted index: word -> its positions, from 0.

    Older snapshots wrap it, as a JSON string, into ``{"IndexLength", "InvertedIndex"}``.

    Args:
        value: The inverted index, or None.
        characters: Most characters of the text.
        sink: Collects a flaw if this is no such index; the text is then empty.
    """
    if isinstance(value, str):
        try:
            value = read_json(value)
        except RejectError as error:
            sink.flaw("abstract unreadable", error.detail)
            return ""
    if isinstance(value, dict) and isinstance(inner := value.get("InvertedIndex"), dict):
        value = inner
    if value is None:
        return ""
    index: dict[str, Any] = value if isinstance(value, dict) else {"": value}
    lists = list(index.values())
    positions = list(chain.from_iterable(lists)) if set(map(type, lists)) <= {list} else [-1]
    if positions and (set(map(type, positions)) != {int} or min(positions) < 0):
        sink.flaw("abstract unreadable", clip(value))
        return ""
    words = list(chain.from_iterable(map(repeat, index, map(len, lists))))
    if sum(map(len, words)) + len(words) > characters:
        sink.flaw("abstract too long", f"more than {characters:,} characters")
        return ""
    ordered = [word for _, word in sorted(zip(positions, words, strict=True))]
    return clean(" ".join(ordered)).strip()


def _references(work: str, record: dict[str, Any], sink: Sink) -> tuple[list[str], int | None]:
    """Return the distinct works that are cited, and how many the record counts."""
    listed = record.get("referenced_works")
    total = count_of(record.get("referenced_works_count"), "referenced_works_count", sink)
    if listed is None:
        return [], total
    if not isinstance(listed, list):
        sink.flaw("referenced_works unreadable", clip(listed))
        return [], total
    cited: dict[str, None] = {}
    unreadable: list[object] = []
    for value in listed:
        if (other := work_id(value)) is None:
            unreadable.append(value)
        else:
            cited[other] = None
    if unreadable:
        sink.flaw("referenced_works unreadable", f"{len(unreadable)} x, {clip(unreadable[0])}")
    if work in cited:
        del cited[work]
        sink.flaw("cites itself", work)
    return list(cited), len(listed) if total is None else total


def _venue(record: dict[str, Any]) -> str | None:
    for key in ("primary_location", "host_venue"):
        place = record.get(key)
        if isinstance(place, dict):
            source = place.get("source")
            if not isinstance(source, dict):
                source = place
            if (name := first_text((source.get("display_name"),))) is not None:
                return name
    return None


def _fields(record: dict[str, Any], sink: Sink) -> list[str]:
    """Return the fields of the topics; of a snapshot before topics, the broadest concepts."""
    topics = record.get("topics")
    if topics:
        return names_of(topics, "topics", sink, "field", "display_name")
    concepts = record.get("concepts")
    if isinstance(concepts, list):
        concepts = [c for c in concepts if not isinstance(c, dict) or c.get("level") == 0]
    return names_of(concepts, "concepts", sink, "display_name")
