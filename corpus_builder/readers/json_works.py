"""JSON: works of OpenAlex, papers of arXiv's snapshot and as ``jsonl`` has them.

Each value is one object, a list of them, or a page of OpenAlex' API; it has a line or several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from arena.dates import PRECISIONS, format_day, parse_date
from arena.errors import DataError
from arena.text.identifiers import arxiv_key
from corpus_builder.readers.arxiv import as_paper
from corpus_builder.readers.base import MAX_ENTRY, PaperFile, Record, reader
from corpus_builder.readers.dates import read_date
from corpus_builder.records import PAPER_KEYS
from corpus_builder.release import TABLES, RecordLimits, RejectError, Sink, read_json
from corpus_builder.sources.openalex import add_work

_LIMITS = RecordLimits()
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')  # none has a line break
_OPENS = re.compile(rb'\s*(?:(?:\{.*?)?"results"\s*:\s*)?\[')
_CLOSES = re.compile(rb"\s*(?:,|\]\s*\}?)?\s*$")
_OBJECT = re.compile(rb'\s*\{\s*"')
_KEY = re.compile(rb'\s*"[^"]*"\s*:')


@reader("json", recognises=lambda head: head[:1] in ("{", "["))
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """JSON of OpenAlex or arXiv, or JSON lines of papers."""
    for line, value in _values(file):
        page = value.get("results", value) if isinstance(value, dict) else value
        for record in page if isinstance(page, list) else [page]:
            if (paper := file.attempt(line, partial(_paper, record, file, line))) is not None:
                yield line, paper


def _values(file: PaperFile) -> Iterator[tuple[int, Any]]:
    """Yield the values of a file, or those of its lists, with their first lines.

    A line that is no value begins one of several lines, which ends where its brackets are closed;
    if they never are, each of its lines is read alone.
    """
    lines, depth, size = list[tuple[int, bytes]](), 0, 0
    for number, text in chain(file.lines(), [(0, b"")]):
        if not lines or (depth == 1 and _OPENS.match(text)):
            lines, depth, size = [], 0, 0
            try:
                value = read_json(text)
            except RejectError:
                text = text[found.end() :] if (found := _OPENS.match(text)) else text
                if not text.strip(b"[]{}, \t\r\n") and b"{" not in text:
                    continue
            else:
                yield number, value
                continue
        lines += [(number, text)] if number else []
        bare = _STRING.sub(b"", text)
        depth += bare.count(b"[") + bare.count(b"{") - bare.count(b"]") - bare.count(b"}")
        size += len(text)
        if number and depth > 0 and size < MAX_ENTRY:
            continue
        whole = b"".join(line for _, line in lines)
        # What stands beside the list of a page is no work.
        alone = [each for each in lines[1:] if _OBJECT.match(each[1])]
        several = [(lines[0][0], whole)] if depth <= 0 else [*lines[:1], *alone]
        for first, line in [] if _KEY.match(whole) else several:
            try:
                value = _parsed(line)
            except RejectError as error:
                file.skip("records", error.reason, first, error.detail)
            else:
                yield first, value
        lines = []


def _parsed(text: bytes) -> Any:
    """Return a value, with or without what stands behind it in a list."""
    try:
        return read_json(text)
    except RejectError:
        return read_json(_CLOSES.sub(b"", text))


def _paper(record: Any, file: PaperFile, line: int) -> Record | None:
    if not isinstance(record, dict):
        file.skip("records", "not an object", line, record)
        return None
    if "abstract_inverted_index" in record or "openalex.org/" in str(record.get("id")):
        return _work(record, file, line)
    if isinstance(record.get("issued"), dict):
        file.skip("records", "an item of CSL-JSON, export BibTeX or RIS", line, record)
        return None
    known = arxiv_key(record.get("arxiv_id", record.get("id")))
    if known and isinstance(record.get("categories"), str) and isinstance(record.get("title"), str):
        return as_paper({**record, "arxiv_id": known.removeprefix("arxiv:")})
    return {**record, "date": _date(record.get("date"), file, line)}


def _date(value: Any, file: PaperFile, line: int) -> Any:
    """Return a date that `parse_date` takes; None, and a loss, of one that says no day or year."""
    with suppress(DataError):
        return value if value is None or parse_date(value) else None
    if (date := read_date(str(value))) is None:
        file.skip("parts", "date unreadable", line, value)
    return date


def _work(record: dict[str, Any], file: PaperFile, line: int) -> Record | None:
    """Return a work of OpenAlex as the release's source reads it."""
    sink = Sink()
    try:
        add_work(record, sink, _LIMITS)
    except RejectError as error:
        file.skip("records", error.reason, line, error.detail)
        return None
    for reason in sink.skipped:
        file.skip("records", reason, line)
    for reason, detail in sink.flaws:
        file.skip("parts", reason, line, detail)
    if not sink.rows:
        return None
    (_, row), *more = sink.rows
    paper = dict(zip(TABLES["papers"].names, row, strict=False))
    day, kind = paper["day"], paper["precision"]
    return {key: value for key, value in paper.items() if key in PAPER_KEYS} | {
        "date": None if day is None else format_day(day)[: 4 + 3 * PRECISIONS.index(kind)],
        "abstract": next((row[1] for table, row in more if table == "abstracts"), None),
        "references": [row[1] for table, row in more if table == "citations"],
    }
