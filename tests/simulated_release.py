"""Synthetic corpora written as the files of a real release, so that importers are exercised."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from corpus_builder.release import folder
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

Record = dict[str, Any]

DATASETS = ("papers", "abstracts", "citations", "s2orc")
MENTIONS = 3
"""How often a text mentions an influential reference; others once or twice."""

_RELEASE = "2024-02-06"
_FULL_TEXT = 0.15  # share of the papers with full text; topics all have it
_DRAWS = 20  # purpose of random numbers; a synthetic corpus uses those below
_LEVEL = 1  # of compression; higher ones take longer than all the rest
_MOST_UNMATCHED = 5  # references of a paper to papers that the release lacks
_LONG = 4  # sentences; a section of more has two paragraphs


def simulate(synthetic: SyntheticConfig, directory: Path, shards: int = 16) -> None:
    """Write a synthetic corpus as a release of Semantic Scholar's datasets into a new directory.

    The same synthetic corpus gives the same lines, whatever the number of shards.
    """
    directory.mkdir(parents=True)
    with ExitStack() as stack:
        files = {
            name: [
                stack.enter_context(_Shard(directory / name, number)) for number in range(shards)
            ]
            for name in DATASETS
        }
        _write(SyntheticCorpus(synthetic), synthetic, files)
    listed = {
        name: [folder.FileEntry(name=shard.path.name) for shard in of] for name, of in files.items()
    }
    folder.Record(release=_RELEASE, datasets=listed).write(directory)


class _Shard:
    """A new file of gzip JSON lines, without name or time in its header."""

    def __init__(self, directory: Path, number: int) -> None:
        directory.mkdir(exist_ok=True)
        self.path = directory / f"{_RELEASE.replace('-', '')}_000000_{number:05}.gz"
        self._raw = self.path.open("xb")
        packed = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)
        self._file = io.BufferedWriter(packed, 1 << 18)

    def write(self, record: Record) -> None:
        self._file.write(orjson.dumps(record) + b"\n")

    def __enter__(self) -> _Shard:
        return self

    def __exit__(self, *_: object) -> None:
        with self._raw:
            self._file.close()


def _write(
    synthetic: SyntheticCorpus, config: SyntheticConfig, files: dict[str, list[_Shard]]
) -> None:
    """Write all records, spread over the shards as in a real release."""
    shards = len(files["papers"])
    cited, influential = Counter[str](), Counter[str]()
    for paper in synthetic.papers():
        for reference in paper["references"]:
            cited[reference["id"]] += 1
            influential[reference["id"]] += reference["influential"]
    totals = {topic["id"]: topic["n_references_total"] for topic in synthetic.surveys()}
    rng = config.rng(_DRAWS)
    for place, paper in enumerate(synthetic.papers()):
        draws = rng.integers(0, 1 << 32, 3, dtype=np.uint32).tolist()
        name, number, references = paper["id"], corpus_id(paper["id"]), paper["references"]
        lacks = draws[0] % (_MOST_UNMATCHED + 1)
        if name in totals:
            lacks = totals[name] - len(references)
        counts = len(references) + lacks, cited[name], influential[name]
        shard = place * shards // config.papers
        files["papers"][shard].write(paper_record(paper, *counts, draws[1]))
        files["abstracts"][shard].write(abstract_record(paper))
        if paper["is_survey"] or draws[2] < _FULL_TEXT * (1 << 32):
            files["s2orc"][shard].write(text_record(paper, lacks, draws[1]))
        listed = [(corpus_id(each["id"]), each["influential"]) for each in references]
        for k, (other, mark) in enumerate([*listed, *[(None, False)] * lacks]):
            files["citations"][(place + k) % shards].write(citation_record(number, other, mark))


def corpus_id(paper: str) -> int:
    """Return the number that stands for a synthetic corpus' paper: that in its id, and one more.

    >>> corpus_id("w7-00000000ff")
    256
    """
    return int(paper.rpartition("-")[2], 16) + 1


_IDS = ("ACL", "DBLP", "ArXiv", "MAG", "CorpusId", "PubMed", "DOI", "PubMedCentral")


def paper_record(paper: Record, listed: int, cited: int, influential: int, draw: int) -> Record:
    """Return a paper of a synthetic corpus as ``papers`` has it; `draw` is a random 32-bit number.

    A month is written as its first day, as in real releases.
    """
    number, date = corpus_id(paper["id"]), paper["date"]
    sources = ("s2-fos-model", "external")[: 1 + draw % 2]
    return {
        "corpusid": number,
        "externalids": {n: str(number) if n in ("MAG", "CorpusId") else None for n in _IDS},
        "url": f"https://www.semanticscholar.org/paper/{number:040x}",
        "title": paper["title"],
        "authors": [
            {"authorId": str(sum(map(ord, name)) * 8191), "name": name} for name in paper["authors"]
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
        "publicationdate": None if date is None or len(date) == 4 else f"{date}-01"[:10],
        "journal": {"name": paper["venue"], "pages": None, "volume": str(1 + draw % 60)},
        "updated": f"{_RELEASE}T02:09:51.713Z",
    }


def abstract_record(paper: Record) -> Record:
    """Return the abstract of a synthetic corpus' paper as ``abstracts`` has it."""
    ids = dict.fromkeys(("MAG", "ACL", "DOI", "PubMedCentral", "ArXiv"))
    return {
        "corpusid": corpus_id(paper["id"]),
        "openaccessinfo": {"externalids": ids, "license": None, "url": None, "status": None},
        "abstract": paper["abstract"],
        "updated": f"{_RELEASE}T01:50:42.129Z",
    }


def citation_record(citing: int, cited: int | None, mark: bool) -> Record:
    """Return a reference as ``citations`` has it; `cited` is None for a paper that is missing."""
    return {
        "citingcorpusid": str(citing),
        "citedcorpusid": None if cited is None else str(cited),
        "isinfluential": mark,
        "contexts": None,
        "intents": ["background", "methodology"] if mark else ["background"],
        "updated": f"{_RELEASE}T15:59:00.392Z",
    }


class _Text:
    """A text that grows, and where each annotated part lies in it."""

    def __init__(self) -> None:
        self.text, self._spans = "", dict[str, list[Record]]()

    def add(self, *texts: str) -> None:
        self.text += "".join(texts)

    @contextmanager
    def span(self, name: str, attributes: Record | None = None) -> Iterator[None]:
        start = len(self.text)
        yield
        told = {"attributes": attributes} if attributes else {}
        span = {**told, "end": len(self.text), "start": start}
        self._spans.setdefault(name, []).append(span)

    def annotations(self) -> dict[str, str | None]:
        names = ("abstract", "author", "bibentry", "bibref", "bibtitle", "formula", "paragraph",
                 "sectionheader", "title")  # fmt: skip
        found = self._spans
        return {name: orjson.dumps(found[name]).decode() if name in found else None
                for name in names}  # fmt: skip


def text_record(paper: Record, unmatched: int, draw: int) -> Record:
    """Return the full text of a synthetic corpus' paper, its references mentioned and listed.

    Offsets count characters. Mentions are ``[n]`` before the full stop of a sentence. So many
    entries of its bibliography are `unmatched`; `draw` is a random 32-bit number.
    """
    text, number = _Text(), corpus_id(paper["id"])
    for name, parts in (("title", [paper["title"]]), ("author", paper["authors"]),
                        ("abstract", [paper["abstract"]])):  # fmt: skip
        for part in parts:
            text.add("\n\n")
            with text.span(name):
                text.add(part)
    _sections(text, paper["sections"], _mentions(paper["references"], unmatched, draw))
    matched = [{"matched_paper_id": corpus_id(each["id"])} for each in paper["references"]]
    for place, match in enumerate([*matched, *[dict[str, int]()] * unmatched]):
        text.add("\n\n")
        with text.span("bibentry", {"id": f"b{place}", **match}), text.span("bibtitle"):
            text.add(f"A Made-Up Reference, Number {place + 1} of {paper['id']}")
    source = {"pdfurls": None, "pdfsha": f"{number:040x}", "oainfo": None}
    ids = ("arxiv", "mag", "acl", "pubmed", "pubmedcentral", "dblp", "doi")
    return {
        "corpusid": number,
        "externalids": dict.fromkeys(ids),
        "content": {"source": source, "text": text.text, "annotations": text.annotations()},
        "updated": f"{_RELEASE}T05:38:20Z",
    }


def _mentions(references: list[Record], unmatched: int, draw: int) -> list[int]:
    """Return which entry of the bibliography each mention is to; -1 if unknown."""
    entries = []
    for place, reference in enumerate(references):
        few = 1 + (draw >> place % 32 & 1)
        entries += [place] * (MENTIONS if reference["influential"] else few)
    return entries + [-1 if k % 4 == 3 else len(references) + k for k in range(unmatched)]


def _sections(text: _Text, sections: list[Record], mentions: list[int]) -> None:
    texts = [section["text"].split(". ") for section in sections]
    every, place = sum(map(len, texts)), 0
    for number, (section, sentences) in enumerate(zip(sections, texts, strict=True), 1):
        text.add("\n\n")
        with text.span("sectionheader", {"n": str(number)}):
            text.add(section["heading"])
        half = (len(sentences) + 1) // 2 if len(sentences) > _LONG else len(sentences)
        for paragraph in filter(None, (sentences[:half], sentences[half:])):
            text.add("\n")
            with text.span("paragraph"):
                for turn, sentence in enumerate(paragraph):
                    text.add(" " * (turn > 0), sentence.removesuffix("."))
                    for entry in mentions[place::every]:
                        text.add(" ")
                        with text.span("bibref", {"ref_id": f"b{entry}"} if entry >= 0 else None):
                            text.add(f"[{entry + 1 if entry >= 0 else '?'}]")
                    text.add(".")
                    place += 1
