"""Full texts as ``s2orc`` and ``s2orc_v2`` have them: one string, and spans that annotate it."""

from __future__ import annotations

from typing import Any

import orjson

from corpus_builder.simulate._records import Record, corpus_id

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
    """Return which entry of the bibliography each mention is to; -1 to one that is not told."""
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
                    told = {"ref_id": f"b{entry}"} if entry >= 0 else {}
                    body.add_marked("bibref", f"[{entry + 1 if entry >= 0 else '?'}]", **told)
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
