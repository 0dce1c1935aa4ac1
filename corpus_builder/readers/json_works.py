"""JSON: works of OpenAlex, papers of arXiv's snapshot and as ``jsonl`` has them.

Each value is one object, a list of them, or a page of OpenAlex' API; it has a line, or several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any

from arena.dates import PRECISIONS, format_day, parse_date
from arena.errors import DataError
from arena.text.identifiers import arxiv_key
from corpus_builder.readers.arxiv import as_paper
from corpus_builder.readers.base import PaperFile, Record, reader
from corpus_builder.readers.dates import read_date
from corpus_builder.records import PAPER_KEYS
from corpus_builder.release import TABLES, RecordLimits, RejectError, Sink, read_json
from corpus_builder.sources.openalex import add_work

_LIMITS = RecordLimits()
_NEXT = re.compile(r"\S")
_DATES = ("date", "publicationDate", "publication_date", "year")  # as Semantic Scholar has them


@reader("json", recognises=lambda head: head[:1] in ("{", "["))
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """JSON of OpenAlex or arXiv, or JSON lines of papers."""
    for line, value in _values(file):
        page = value.get("results", value) if isinstance(value, dict) else value
        for record in page if isinstance(page, list) else [page]:
            if (paper := file.attempt(line, partial(_paper, record, file, line))) is not None:
                yield line, paper


def _values(file: PaperFile) -> Iterator[tuple[int, Any]]:
    """Yield values with their first lines: of each line, or if the first is none, of the whole."""
    lines = file.lines()
    first = list(islice(lines, 1))
    lines = chain(first, lines)
    if first and not _is_value(first[0][1]):
        held = list(lines)
        with suppress(ValueError, RecursionError):
            yield from _one_after_another(b"".join(text for _, text in held).decode())
            return
        lines = iter(held)
    for number, text in lines:
        try:
            yield number, read_json(text.strip().removesuffix(b","))
        except RejectError as error:
            file.skip("records", error.reason, number, error.detail)


def _is_value(text: bytes) -> bool:
    try:
        read_json(text)
    except RejectError:
        return False
    return True


def _one_after_another(text: str) -> list[tuple[int, Any]]:
    """Return the values of a text, each over any lines; ValueError if it has anything else."""
    decoder, values, line, end = json.JSONDecoder(), list[tuple[int, Any]](), 1, 0
    while start := _NEXT.search(text, end):
        line += text.count("\n", end, start.start())
        value, after = decoder.raw_decode(text, start.start())
        values.append((line, value))
        line, end = line + text.count("\n", start.start(), after), after
    return values


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
    dates = (record[key] for key in _DATES if record.get(key))
    return {**record, "date": _date(next(dates, None), file, line)}


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
