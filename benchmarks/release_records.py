"""Records of a simulated release: papers, citations, full texts, and bad ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

Record = dict[str, Any]

_IDS = ("ACL", "DBLP", "ArXiv", "MAG", "CorpusId", "PubMed", "DOI", "PubMedCentral")
_OPEN_IDS = ("MAG", "ACL", "DOI", "PubMedCentral", "ArXiv")
_TEXT_IDS = ("arxiv", "mag", "acl", "pubmed", "pubmedcentral", "dblp", "doi")
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
    """Return a paper of a world as ``papers`` has it; `draw` is a random 32-bit number."""
    number, date = corpus_id(paper["id"]), paper["date"]
    sources = ("s2-fos-model", "external")[: 1 + draw % 2]
    return {
        "corpusid": number,
        "externalids": {
            name: str(number) if name in ("MAG", "CorpusId") else None for name in _IDS
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
            "externalids": dict.fromkeys(_OPEN_IDS) | {"MAG": str(number)},
            "license": None,
            "url": None,
            "status": None,
        },
        "abstract": paper["abstract"],
        "updated": f"{release}T01:50:42.129Z",
    }


_CONTEXTS = 37  # percent of the citations that have sentences, as in the official sample


def citation_record(
    citing: int, cited: int | None, mark: bool, draw: int, contexts: Sequence[str], release: str
) -> Record:
    """Return a reference as ``citations`` has it; `cited` is None for a paper that is missing."""
    sentences = intents = None
    if draw % 100 < _CONTEXTS and contexts:
        first = draw // 300 % len(contexts)
        sentences = contexts[first : first + 1 + draw // 100 % 3]
        intents = ["background", "methodology"] if mark else ["background"]
    return {
        "citingcorpusid": str(citing),
        "citedcorpusid": None if cited is None else str(cited),
        "isinfluential": mark,
        "contexts": sentences,
        "intents": intents,
        "updated": f"{release}T15:59:00.392Z",
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

_KINDS_OF_SPANS = (
    "abstract", "author", "author_affiliation", "author_first_name", "author_last_name",
    "bib_author", "bib_author_first_name", "bib_author_last_name", "bib_entry", "bib_ref",
    "bib_title", "bib_venue", "figure", "figure_caption", "figure_ref", "formula", "paragraph",
    "publisher", "section_header", "table", "table_ref", "title", "venue",
)  # fmt: skip
"""As v2 names them; in v1 the names have no underscores."""

_BIBLIOGRAPHY = [n for n in _KINDS_OF_SPANS if n.startswith("bib") and n != "bib_ref"]
_BODY = [name for name in _KINDS_OF_SPANS if name not in _BIBLIOGRAPHY]
_LONG = 4  # sentences; a section of more has two paragraphs


class Tag(NamedTuple):
    """An annotated part of a text, made of texts and of spans."""

    name: str
    parts: Parts
    attributes: Record = {}  # noqa: RUF012


Parts = Sequence[str | Tag]


def _render(parts: Iterable[str | Tag]) -> tuple[str, dict[str, list[Record]]]:
    """Return the text of parts, and by name where each span lies in it."""
    texts: list[str] = []
    spans: dict[str, list[Record]] = {}

    def add(part: str | Tag, at: int) -> int:
        if isinstance(part, str):
            texts.append(part)
            return at + len(part)
        end = at
        for inner in part.parts:
            end = add(inner, end)
        attributes = {"attributes": part.attributes} if part.attributes else {}
        spans.setdefault(part.name, []).append({**attributes, "end": end, "start": at})
        return end

    size = 0
    for part in parts:
        size = add(part, size)
    return "".join(texts), spans


def text_record(paper: Record, unmatched: int, draw: int, version: str, release: str) -> Record:
    """Return the full text of a world's paper, its references mentioned and listed.

    Offsets count characters. A section of more than four sentences has two paragraphs. Mentions
    are ``[n]`` before the full stop of a sentence. So many entries of its bibliography are
    `unmatched`; `draw` is a random 32-bit number.
    """
    body: list[str | Tag] = ["\n", Tag("title", [paper["title"]]), "\n\n"]
    for name in paper["authors"]:
        first, _, last = name.partition(" ")
        names: Parts = [
            Tag("author_first_name", [first]),
            " ",
            Tag("author_last_name", [last]),
        ]
        body += [Tag("author", names), "\n\n"]
    body.append(Tag("abstract", [paper["abstract"]]))
    body += _sections(paper, _mentions(paper["references"], unmatched, draw))
    bibliography = list(_bibliography(paper, unmatched))
    number = corpus_id(paper["id"])
    record = {"corpusid": number, "externalids": dict.fromkeys(_TEXT_IDS)}
    if version == "v1":
        text = _annotated([*body, "\n\n", *bibliography], _KINDS_OF_SPANS)
        spans = {name.replace("_", ""): of for name, of in text["annotations"].items()}
        source = {"pdfurls": None, "pdfsha": f"{number:040x}", "oainfo": None}
        record["content"] = {"source": source, "text": text["text"], "annotations": spans}
    else:
        record |= {
            "title": paper["title"],
            "authors": [{"name": name} for name in paper["authors"]],
            "openaccessinfo": {"externalids": {}, "license": None, "url": None, "status": None},
            "body": _annotated(body, _BODY),
            "bibliography": _annotated(bibliography, _BIBLIOGRAPHY),
        }
    return {**record, "updated": f"{release}T05:38:20Z"}


def _annotated(parts: Iterable[str | Tag], names: Sequence[str]) -> Record:
    """Return a text, and the spans of each name as JSON, or None."""
    text, spans = _render(parts)
    found = {name: orjson.dumps(spans[name]).decode() if name in spans else None for name in names}
    return {"text": text, "annotations": found}


def _mentions(references: list[Record], unmatched: int, draw: int) -> list[int]:
    """Return which entry of the bibliography each mention is to; -1 if unknown."""
    entries = []
    for place, reference in enumerate(references):
        few = 1 + (draw >> place % 32 & 1)
        entries += [place] * (INFLUENTIAL_MENTIONS if reference["influential"] else few)
    return entries + [-1 if k % 4 == 3 else len(references) + k for k in range(unmatched)]


def _sections(paper: Record, mentions: list[int]) -> Iterator[str | Tag]:
    texts = [section["text"].split(". ") for section in paper["sections"]]
    count, place = sum(map(len, texts)), 0
    for number, (section, sentences) in enumerate(zip(paper["sections"], texts, strict=True), 1):
        yield "\n\n"
        yield Tag("section_header", [section["heading"]], {"n": str(number)})
        half = (len(sentences) + 1) // 2 if len(sentences) > _LONG else len(sentences)
        for paragraph in filter(None, (sentences[:half], sentences[half:])):
            parts: list[str | Tag] = []
            for sentence in paragraph:
                parts += [" " if parts else "", sentence.removesuffix(".")]
                for entry in mentions[place::count]:
                    mark, known = f"[{entry + 1 if entry >= 0 else '?'}]", entry >= 0
                    parts += [
                        " ",
                        Tag("bib_ref", [mark], {"ref_id": f"b{entry}"} if known else {}),
                    ]
                parts.append(".")
                place += 1
            yield "\n"
            yield Tag("paragraph", parts)


def _bibliography(paper: Record, unmatched: int) -> Iterator[str | Tag]:
    matched = [{"matched_paper_id": corpus_id(each["id"])} for each in paper["references"]]
    for place, match in enumerate([*matched, *[{}] * unmatched]):
        title = f"A Made-Up Reference, Number {place + 1} of {paper['id']}"
        entry: Parts = [
            Tag("bib_title", [title]),
            ". ",
            Tag("bib_venue", [paper["venue"]]),
        ]
        yield "\n\n"
        yield Tag("bib_entry", entry, {"id": f"b{place}", **match})


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
