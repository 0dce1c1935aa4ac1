"""Bad records: what a real release may hold, among records that stay as they are."""

from __future__ import annotations

from typing import Any

import orjson

FIRST_EXTRA = 1 << 42
"""From here on stand the numbers of papers that no world has."""

HUGE = 50_000_000
"""Characters of the longest text."""


class Bad:
    """Tells after which lines of one file a bad one follows, and which.

    Args:
        dataset: that the file belongs to.
        part: number of the file; gives its extra papers numbers of their own.
        share: bad lines for every good one.
    """

    def __init__(self, dataset: str, part: int, share: float) -> None:
        kind = "s2orc" if dataset.startswith("s2orc") else dataset
        self._kinds = _KINDS[kind]
        self._dataset = dataset
        self._step = round(1 / share) if share else 0
        self._part = part
        self._extra = FIRST_EXTRA + (part << 28) + (list(_KINDS).index(kind) << 26)
        self._lines = 0
        self.counts: dict[str, int] = {}

    def after(self, line: bytes) -> list[bytes]:
        """Return the bad lines, at most one, that follow a good one."""
        self._lines += 1
        if not self._step or self._lines % self._step:
            return []
        turn = self._lines // self._step
        return [
            self.make(self._kinds[(turn + self._part) % len(self._kinds)], line, self._extra + turn)
        ]

    def count(self, kind: str) -> None:
        """Count a bad line."""
        name = f"{self._dataset}: {kind}"
        self.counts[name] = self.counts.get(name, 0) + 1

    def make(self, kind: str, line: bytes, extra: int) -> bytes:
        """Return a bad line made of a good one, and count it."""
        self.count(kind)
        if kind == "no JSON":
            return line[: len(line) // 2] + b"\n"
        if kind == "NUL bytes":
            return bytes(len(line) - 1) + b"\n"
        record = orjson.loads(line)
        change = _CHANGES.get(kind)
        if change is not None:
            change(record, extra)
        new = orjson.dumps(record) + b"\n"
        # A record that some other program wrote: its one letter outside ASCII is no UTF-8.
        return new.replace(b"Cafe ", b"Caf\xe9 ") if kind == "Latin-1" else new


def own_survey(record: dict[str, Any]) -> tuple[bytes, bytes]:
    """Return a survey that cites itself and nothing else, as a paper and a citation."""
    number = FIRST_EXTRA - 1
    paper = {**record, "corpusid": number, "title": "A Survey of Itself", "year": 2020,
             "publicationdate": "2020-06-01", "referencecount": 1}  # fmt: skip
    link = {
        "citingcorpusid": str(number),
        "citedcorpusid": str(number),
        "isinfluential": False,
        "contexts": None,
        "intents": None,
        "updated": "2020-09-13T15:59:00.392Z",
    }
    return orjson.dumps(paper) + b"\n", orjson.dumps(link) + b"\n"


def huge_text(record: dict[str, Any]) -> bytes:
    """Return a record of full text, of a paper that no world has, that is far too long."""
    record = {**record, "corpusid": FIRST_EXTRA - 2}
    part = "content" if "content" in record else "body"
    words = "It goes on. "
    record[part] = {**record[part], "text": words * (HUGE // len(words) + 1)}
    return orjson.dumps(record) + b"\n"


def _paper(record: dict[str, Any], extra: int, **changes: Any) -> None:
    record.update(corpusid=extra, **changes)


def _out_of_range(record: dict[str, Any], extra: int) -> None:
    part = record["content" if "content" in record else "body"]
    spans = orjson.loads(part["annotations"]["paragraph"])
    spans[-1]["end"] = len(part["text"]) + 1000
    spans.append({"end": 3, "start": 9})
    record["corpusid"] = extra
    part["annotations"]["paragraph"] = orjson.dumps(spans).decode()


def _annotations_no_json(record: dict[str, Any], extra: int) -> None:
    part = record["content" if "content" in record else "body"]
    record["corpusid"] = extra
    part["annotations"]["paragraph"] = '[{"end":12,"sta'


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
    "annotations out of range": _out_of_range,
    "annotations no JSON": _annotations_no_json,
}  # fmt: skip

_KINDS = {
    "papers": ("no JSON", "told twice", "year 2099", "year 1", "no title", "NUL in a title",
               "NUL bytes", "Latin-1"),
    "abstracts": ("no JSON", "told twice", "NUL in a text", "Latin-1", "of no paper"),
    "citations": ("to itself", "no JSON", "told twice", "to an unknown paper", "id no number"),
    "s2orc": ("annotations out of range", "no JSON", "told twice", "annotations no JSON",
              "of no paper"),
}  # fmt: skip
