"""Records of a simulated release that an importer must refuse or mend."""

from __future__ import annotations

from typing import Any

import orjson

from benchmarks.release_records import Record, citation_record

FIRST_EXTRA = 1 << 42
"""From here on stand the numbers of papers that no world has."""

_HUGE = 50_000_000  # characters of the longest text


def bad_line(dataset: str, part: int, turn: int, line: bytes) -> tuple[str, bytes]:
    """Return the kind and the text of a bad line.

    Args:
        dataset: Name of the dataset.
        part: Number of the file.
        turn: Number of the bad line in the file, from 1 on.
        line: The good line that it follows.
    """
    dataset = "s2orc" if dataset.startswith("s2orc") else dataset
    kinds = _KINDS[dataset]
    kind = kinds[(turn + part) % len(kinds)]
    if kind == "no JSON":
        return kind, line[: len(line) // 2] + b"\n"
    if kind == "NUL bytes":
        return kind, bytes(len(line) - 1) + b"\n"
    record = orjson.loads(line)
    if kind in _CHANGES:
        extra = FIRST_EXTRA + (part << 28) + (list(_KINDS).index(dataset) << 26)
        _CHANGES[kind](record, extra + turn)
    new = orjson.dumps(record) + b"\n"
    # A record that some other program wrote: its one letter outside ASCII is no UTF-8.
    return kind, new.replace(b"Cafe ", b"Caf\xe9 ") if kind == "Latin-1" else new


def own_survey(record: Record) -> tuple[bytes, bytes]:
    """Return a survey that cites itself and nothing else, as a paper and a citation."""
    number = FIRST_EXTRA - 1
    paper = {**record, "corpusid": number, "title": "A Survey of Itself", "year": 2020,
             "publicationdate": "2020-06-01", "referencecount": 1}  # fmt: skip
    link = citation_record(number, number, False, 99, [], "2020-09-13")
    return orjson.dumps(paper) + b"\n", orjson.dumps(link) + b"\n"


def huge_text(record: Record) -> bytes:
    """Return a record of full text, of a paper that no world has, that is far too long."""
    part, words = "content" if "content" in record else "body", "It goes on. "
    text = words * (_HUGE // len(words) + 1)
    changed = {**record, "corpusid": FIRST_EXTRA - 2, part: {**record[part], "text": text}}
    return orjson.dumps(changed) + b"\n"


def _paper(record: dict[str, Any], extra: int, **changes: Any) -> None:
    record.update(corpusid=extra, **changes)


def _break_annotations(record: dict[str, Any], extra: int, json: str | None = None) -> None:
    part = record["content" if "content" in record else "body"]
    record["corpusid"] = extra
    if json is None:
        spans = orjson.loads(part["annotations"]["paragraph"])
        spans[-1]["end"] = len(part["text"]) + 1000
        json = orjson.dumps([*spans, {"end": 3, "start": 9}]).decode()
    part["annotations"]["paragraph"] = json


_CHANGES: dict[str, Any] = {
    "told twice": lambda record, _: "title" in record and record.update(title="Told Again"),
    "year 2099": lambda record, extra: _paper(record, extra, year=2099, publicationdate=None),
    "year 1": lambda record, extra: _paper(record, extra, year=1, publicationdate="0001-01-01"),
    "no title": lambda record, extra: _paper(record, extra, title=None),
    "NUL in a title": lambda record, extra: _paper(record, extra, title="A\x00 Title\x00"),
    "NUL in a text": lambda record, extra: _paper(record, extra, abstract="A\x00 text\x00."),
    "Latin-1": lambda record, extra: _paper(
        record, extra, **{"abstract" if "abstract" in record else "title": "Cafe in the letters"}
    ),
    "of no paper": lambda record, extra: _paper(record, extra),
    "to itself": lambda record, _: record.update(citedcorpusid=record["citingcorpusid"]),
    "to an unknown paper": lambda record, extra: record.update(citedcorpusid=str(extra)),
    "id no number": lambda record, _: record.update(citedcorpusid="none known"),
    "annotations out of range": _break_annotations,
    "annotations no JSON": lambda record, extra: _break_annotations(
        record, extra, '[{"end":12,"sta'
    ),
}  # fmt: skip

_KINDS = {
    "papers": ("no JSON", "told twice", "year 2099", "year 1", "no title", "NUL in a title",
               "NUL bytes", "Latin-1"),
    "abstracts": ("no JSON", "told twice", "NUL in a text", "Latin-1", "of no paper"),
    "citations": ("to itself", "no JSON", "told twice", "to an unknown paper", "id no number"),
    "s2orc": ("annotations out of range", "no JSON", "told twice", "annotations no JSON",
              "of no paper"),
}  # fmt: skip
