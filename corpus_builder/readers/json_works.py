"""JSON: works of OpenAlex, papers of arXiv's snapshot, papers as ``jsonl`` has them.

Each line is one object, a list of them, or a page of OpenAlex' API.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.dates import PRECISIONS, format_day
from arena.text.identifiers import arxiv_key
from corpus_builder.readers.arxiv import as_paper
from corpus_builder.readers.base import PaperFile, Record, reader
from corpus_builder.records import PAPER_KEYS
from corpus_builder.release import TABLES, RecordLimits, RejectError, Sink, read_json
from corpus_builder.sources.openalex import add_work

_LIMITS = RecordLimits()


@reader("json", recognises=lambda head: head[:1] in ("{", "["))
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """JSON of OpenAlex or arXiv, or JSON lines of papers."""
    for line, text in file.lines():
        try:
            value = read_json(text)
        except RejectError as error:
            file.lose("records", error.reason, line, error.detail)
            continue
        page = value.get("results", value) if isinstance(value, dict) else value
        for record in page if isinstance(page, list) else [page]:
            if (paper := _paper(record, file, line)) is not None:
                yield line, paper


def _paper(record: Any, file: PaperFile, line: int) -> Record | None:
    if not isinstance(record, dict):
        file.lose("records", "not an object", line, record)
        return None
    if "abstract_inverted_index" in record or "openalex.org/" in str(record.get("id")):
        return _work(record, file, line)
    known = arxiv_key(record.get("arxiv_id", record.get("id")))
    if known and isinstance(record.get("categories"), str) and isinstance(record.get("title"), str):
        return as_paper({**record, "arxiv_id": known.removeprefix("arxiv:")})
    return record


def _work(record: dict[str, Any], file: PaperFile, line: int) -> Record | None:
    """Return a work of OpenAlex as the release's source reads it."""
    sink = Sink()
    try:
        add_work(record, sink, _LIMITS)
    except RejectError as error:
        file.lose("records", error.reason, line, error.detail)
        return None
    for reason in sink.skipped:
        file.lose("records", reason, line)
    for reason, detail in sink.flaws:
        file.lose("parts", reason, line, detail)
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
