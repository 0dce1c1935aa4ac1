"""Records of a simulated release: papers, citations, full texts, and bad ones."""

from __future__ import annotations

from typing import Any

import orjson

Record = dict[str, Any]

_AUTHORS = 1 << 22
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276B  # odd: different numbers stay different


def corpus_id(paper: str) -> int:
    """Return the number that stands for a world's paper: that in its id, and one more.

    >>> corpus_id("w7-00000000ff")
    256
    """
    return int(paper.rpartition("-")[2], 16) + 1


def paper_record(
    paper: Record, listed: int, cited: int, influential: int, draw: int, release: str
) -> Record:
    """Return a paper as ``papers`` has it.

    Args:
        paper: record of a world.
        listed: references, those to unknown papers too.
        cited: citations that it has received.
        influential: those of them that are.
        draw: a random 32-bit number.
        release: day of the release.
    """
    number, date = corpus_id(paper["id"]), paper["date"]
    sources = ("s2-fos-model", "external")[: 1 + draw % 2]
    return {
        "corpusid": number,
        "externalids": {
            "ACL": None,
            "DBLP": None,
            "ArXiv": None,
            "MAG": str(number),
            "CorpusId": str(number),
            "PubMed": None,
            "DOI": None,
            "PubMedCentral": None,
        },
        "url": f"https://www.semanticscholar.org/paper/{_hexadecimal(number)}",
        "title": paper["title"],
        "authors": [
            {"authorId": str(_AUTHORS + sum(map(ord, name)) * 8191), "name": name}
            for name in paper["authors"]
        ],
        "venue": paper["venue"],
        "publicationvenueid": None,
        "year": None if date is None else int(date[:4]),
        "referencecount": listed,
        "citationcount": cited,
        "influentialcitationcount": influential,
        "isopenaccess": draw % 3 == 0,
        "s2fieldsofstudy": [
            {"category": field, "source": source} for field in paper["fields"] for source in sources
        ],
        "publicationtypes": None if draw % 4 else ["JournalArticle"],
        "publicationdate": _day(date),
        "journal": {"name": paper["venue"], "pages": None, "volume": str(1 + draw % 60)},
        "updated": f"{release}T02:09:51.713Z",
    }


def abstract_record(paper: Record, release: str) -> Record:
    """Return the abstract of a world's paper as ``abstracts`` has it."""
    number = corpus_id(paper["id"])
    return {
        "corpusid": number,
        "openaccessinfo": {
            "externalids": {
                "MAG": str(number),
                "ACL": None,
                "DOI": None,
                "PubMedCentral": None,
                "ArXiv": None,
            },
            "license": None,
            "url": None,
            "status": None,
        },
        "abstract": paper["abstract"],
        "updated": f"{release}T01:50:42.129Z",
    }


def _day(date: str | None) -> str | None:
    """Return a day or nothing; for a month it is the first, as in real releases."""
    if date is None or len(date) == len("2024"):
        return None
    return date if len(date) == len("2024-02-06") else f"{date}-01"


def _hexadecimal(number: int) -> str:
    """Return 40 hexadecimal digits, others for each number below 2**160."""
    return f"{number * _SPREAD & (1 << 160) - 1:040x}"


INFLUENTIAL_MENTIONS = 3
"""How often a text mentions an influential reference; others once or twice."""

_V1 = (
    "abstract", "author", "authoraffiliation", "authorfirstname", "authorlastname", "bibauthor",
    "bibauthorfirstname", "bibauthorlastname", "bibentry", "bibref", "bibtitle", "bibvenue",
    "figure", "figurecaption", "figureref", "formula", "paragraph", "publisher", "sectionheader",
    "table", "tableref", "title", "venue",
)  # fmt: skip
_V2_NAMES = {
    "authoraffiliation": "author_affiliation",
    "authorfirstname": "author_first_name",
    "authorlastname": "author_last_name",
    "bibauthor": "bib_author",
    "bibauthorfirstname": "bib_author_first_name",
    "bibauthorlastname": "bib_author_last_name",
    "bibentry": "bib_entry",
    "bibref": "bib_ref",
    "bibtitle": "bib_title",
    "bibvenue": "bib_venue",
    "figurecaption": "figure_caption",
    "figureref": "figure_ref",
    "sectionheader": "section_header",
    "tableref": "table_ref",
}
_BIBLIOGRAPHY = tuple(name for name in _V1 if name.startswith("bib") and name != "bibref")
_LONG = 4  # sentences; a section of more has two paragraphs


class _Builder:
    """A text that grows, and the spans in it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.spans: dict[str, list[dict[str, Any]]] = {}

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, text: str) -> int:
        """Add text; return where it begins."""
        start = self._size
        self._parts.append(text)
        self._size += len(text)
        return start

    def mark(self, name: str, start: int, **attributes: Any) -> None:
        """Annotate what was added since `start`."""
        span: dict[str, Any] = {"attributes": attributes} if attributes else {}
        self.spans.setdefault(name, []).append({**span, "end": self._size, "start": start})

    def add_marked(self, name: str, text: str, **attributes: Any) -> None:
        """Add an annotated text."""
        self.mark(name, self.add(text), **attributes)


def text_record(paper: Record, unmatched: int, draw: int, version: str, release: str) -> Record:
    """Return the full text of a world's paper, its references mentioned and listed.

    Offsets count characters. A section of more than four sentences has two paragraphs. Mentions
    are ``[n]`` before the full stop of a sentence.

    Args:
        paper: record of a world.
        unmatched: entries of its bibliography that were matched to no paper.
        draw: a random 32-bit number.
        version: ``v1`` or ``v2``.
        release: day of the release.
    """
    body = _Builder()
    body.add("\n")
    body.add_marked("title", paper["title"])
    body.add("\n\n")
    for name in paper["authors"]:
        start = body.add("")
        first, _, last = name.partition(" ")
        body.add_marked("authorfirstname", first)
        body.add(" ")
        body.add_marked("authorlastname", last)
        body.mark("author", start)
        body.add("\n\n")
    body.add_marked("abstract", paper["abstract"])
    _write_sections(body, paper, _mentions(paper["references"], unmatched, draw))
    number = corpus_id(paper["id"])
    ids = {"mag": None, "acl": None, "pubmed": None, "pubmedcentral": None, "dblp": None}
    updated = f"{release}T05:38:20Z"
    if version == "v1":
        body.add("\n\n")
        _write_bibliography(body, paper, unmatched)
        return {
            "corpusid": number,
            "externalids": {"arxiv": None, **ids, "doi": None},
            "content": {
                "source": {"pdfurls": None, "pdfsha": f"{number:040x}", "oainfo": None},
                "text": body.text,
                "annotations": _annotations(body, _V1, {}),
            },
            "updated": updated,
        }
    bibliography = _Builder()
    _write_bibliography(bibliography, paper, unmatched)
    in_body = tuple(name for name in _V1 if name not in _BIBLIOGRAPHY)
    return {
        "corpusid": number,
        "externalids": {"arxiv": None, **ids, "doi": None},
        "title": paper["title"],
        "authors": [{"name": name} for name in paper["authors"]],
        "openaccessinfo": {"externalids": {}, "license": None, "url": None, "status": None},
        "body": {"text": body.text, "annotations": _annotations(body, in_body, _V2_NAMES)},
        "bibliography": {
            "text": bibliography.text,
            "annotations": _annotations(bibliography, _BIBLIOGRAPHY, _V2_NAMES),
        },
        "updated": updated,
    }


def _annotations(text: _Builder, kinds: tuple[str, ...], names: dict[str, str]) -> Record:
    found = {names.get(kind, kind): text.spans.get(kind) for kind in kinds}
    return {name: orjson.dumps(spans).decode() if spans else None for name, spans in found.items()}


def _mentions(references: list[Record], unmatched: int, draw: int) -> list[int]:
    """Return which entry of the bibliography each mention is to; -1 if unknown."""
    entries = []
    for place, reference in enumerate(references):
        few = 1 + (draw >> place % 32 & 1)
        entries += [place] * (INFLUENTIAL_MENTIONS if reference["influential"] else few)
    return entries + [-1 if k % 4 == 3 else len(references) + k for k in range(unmatched)]


def _write_sections(body: _Builder, paper: Record, mentions: list[int]) -> None:
    sections = [section["text"].split(". ") for section in paper["sections"]]
    count, place = sum(map(len, sections)), 0
    for number, (section, sentences) in enumerate(
        zip(paper["sections"], sections, strict=True), start=1
    ):
        body.add("\n\n")
        body.add_marked("sectionheader", section["heading"], n=str(number))
        half = (len(sentences) + 1) // 2 if len(sentences) > _LONG else len(sentences)
        for paragraph in (sentences[:half], sentences[half:]):
            if not paragraph:
                continue
            start = body.add("\n") + len("\n")
            for turn, sentence in enumerate(paragraph):
                body.add(" " if turn else "")
                body.add(sentence.removesuffix("."))
                for entry in mentions[place::count]:
                    body.add(" ")
                    attributes = {"ref_id": f"b{entry}"} if entry >= 0 else {}
                    body.add_marked("bibref", f"[{entry + 1 if entry >= 0 else '?'}]", **attributes)
                body.add(".")
                place += 1
            body.mark("paragraph", start)


def _write_bibliography(text: _Builder, paper: Record, unmatched: int) -> None:
    references = paper["references"]
    for place in range(len(references) + unmatched):
        matched = (
            {"matched_paper_id": corpus_id(references[place]["id"])}
            if place < len(references)
            else {}
        )
        text.add("\n\n")
        start = text.add("")
        text.add_marked("bibtitle", f"A Made-Up Reference, Number {place + 1} of {paper['id']}")
        text.add(". ")
        text.add_marked("bibvenue", paper["venue"])
        text.mark("bibentry", start, id=f"b{place}", **matched)


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
