"""Semantic Scholar's dataset files: the source named ``s2orc``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from arena.errors import DataError, clip, did_you_mean
from arena.text.display import count
from arena.text.identifiers import normal_title
from corpus_builder.release import RecordLimits, RejectError, Release, Shard, Sink, read_json
from corpus_builder.release.folder import existing_folder, find_shards, no_shards, year_of
from corpus_builder.release.values import (
    clean,
    coarsen,
    count_of,
    first_text,
    identifier,
    names_of,
    record_of,
    required_id,
    required_title,
    resolve,
)
from corpus_builder.sources.base import source
from corpus_builder.sources.matching import identifiers_of, paper_keys

DATASETS = ("papers", "abstracts", "citations", "s2orc", "s2orc_v2")
_TEXTS = ("s2orc", "s2orc_v2")
_WITHOUT = {
    "abstracts": "abstracts come from full texts alone",
    "citations": "references come from bibliographies alone, and the release marks none as "
    "influential",
    "s2orc": "no full text, no in-text mentions",
}


@source("s2orc")
class S2orc(Release):
    """Semantic Scholar's dataset files: papers, abstracts, citations, full texts.

    Args:
        input: Folder of the files, ``<dataset>/*.gz`` or ``<dataset>-*.jsonl``.
        datasets: Datasets to read; None for all in the folder.
        reviews: Count papers of the publication type ``Review`` as surveys.
    """

    example: ClassVar[str] = "--input DIR --config configs/s2orc.yaml"

    def __init__(
        self, input: str | Path, datasets: tuple[str, ...] | None = None, reviews: bool = False
    ) -> None:
        self._path = existing_folder(input)
        self._datasets = DATASETS if datasets is None else datasets
        for name in self._datasets:
            if name not in DATASETS:
                raise DataError(f"no dataset named {name!r}.{did_you_mean(name, DATASETS)}")
        self._chosen = datasets is not None
        self._reviews = reviews

    @property
    def year(self) -> int | None:
        """The year of the release, if ``release.json`` or the file names give it."""
        return year_of(self._find()[0])

    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name."""
        return self._find()[1]

    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Turn one record into rows."""
        if dataset == "citations":
            parse_citation(record, sink)
        elif dataset == "papers":
            parse_paper(record, sink, limits, self._reviews)
        elif dataset == "abstracts":
            parse_abstract(record, sink)
        else:
            parse_text(record, sink, limits)

    def describe(self) -> dict[str, Any]:
        """Return the release, the number of shards of each dataset, and what is missing."""
        release, shards, note = self._find()
        counts = Counter(shard.dataset for shard in shards)
        there = {name.removesuffix("_v2") for name in counts}
        return {
            "source": "s2orc",
            "release": release,
            "shards": dict(counts),
            "missing": {name: why for name, why in _WITHOUT.items() if name not in there},
            "reviews": self._reviews,
            **({"note": note} if note else {}),
        }

    def _find(self) -> tuple[str | None, list[Shard], str | None]:
        release, shards, note = find_shards(self._path, self._datasets, "s2orc")
        there = {shard.dataset for shard in shards}
        for name in ["papers", *(self._datasets if self._chosen else ())]:
            if name not in there:
                layouts = f"no file {name}/*.gz or {name}-*.jsonl"
                if name not in self._datasets:
                    layouts = "it is required, but not among the datasets named"
                raise no_shards(self._path, name, layouts)
        if there.issuperset(_TEXTS):
            raise DataError(
                f"{str(self._path)!r} has the full texts twice, as s2orc and as s2orc_v2. Name "
                "the datasets to read: --datasets papers,abstracts,citations,s2orc_v2"
            )
        return release, shards, note


def parse_paper(record: Any, sink: Sink, limits: RecordLimits, reviews: bool) -> None:
    """Add a paper; with `reviews`, one of the publication type ``Review`` counts as a survey."""
    record = record_of(record, "corpusid", "title")
    paper, title = required_id(record["corpusid"]), required_title(record["title"])
    date = coarsen(record.get("publicationdate"), "month")
    day, precision = resolve(date, record.get("year"), sink, limits) or (None, None)
    journal, types = record.get("journal"), record.get("publicationtypes")
    venues = record.get("venue"), journal.get("name") if isinstance(journal, dict) else None
    row = (
        paper,
        title,
        normal_title(title),
        day,
        precision,
        reviews and isinstance(types, list) and "Review" in types,
        count_of(record.get("referencecount"), "referencecount", sink),
        first_text(venues),
        names_of(record.get("authors"), "authors", sink, "name"),
        names_of(record.get("s2fieldsofstudy"), "s2fieldsofstudy", sink, "category"),
        *identifiers_of(paper_keys(record)),
        count_of(record.get("citationcount"), "citationcount", sink),
    )
    sink.add("papers", row)


def parse_abstract(record: Any, sink: Sink) -> None:
    """Add the abstract of a paper."""
    record = record_of(record, "corpusid", "abstract")
    paper, abstract = required_id(record["corpusid"]), record["abstract"]
    if not isinstance(abstract, str) or not abstract.strip():
        raise RejectError("no abstract", clip(abstract))
    sink.add("abstracts", (paper, clean(abstract)))


def parse_citation(record: Any, sink: Sink) -> None:
    """Add a citation; skip one of a paper that was not recognised, a fifth of all."""
    try:
        citing, cited = record["citingcorpusid"], record["citedcorpusid"]
    except (TypeError, KeyError):
        record_of(record, "citingcorpusid", "citedcorpusid")
        raise
    if citing is None or cited is None:
        sink.skip("citing paper unknown" if citing is None else "cited paper unknown")
        return
    one, other = identifier(citing), identifier(cited)
    if one is None or other is None:
        raise RejectError("no id", f"{clip(citing, 40)}, {clip(cited, 40)}")
    if one == other:
        raise RejectError("cites itself", one)
    influential = record.get("isinfluential")
    if not isinstance(influential, bool | None):
        sink.flaw("isinfluential unreadable", clip(influential))
    sink.add("citations", (one, other, influential is True))


class Span(NamedTuple):
    """A part of a text, from character `start` to before `end`."""

    start: int
    end: int


Faults = defaultdict[str, list[str]]
"""Kind -> details of what is wrong with the annotations of one record."""


class Annotations:
    """All annotations of a text: a list for each kind as a JSON string, and null for none.

    The first version of the dataset spells ``sectionheader``, the second ``section_header``.
    `faults` collects what is wrong.
    """

    def __init__(self, value: object, faults: Faults) -> None:
        self._faults = faults
        if not isinstance(value, dict | None):
            faults["annotations unreadable"].append(clip(value))
        known = value if isinstance(value, dict) else {}
        self._kinds = {name.replace("_", ""): listed for name, listed in known.items()}

    def attributes(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the attributes of every annotation of a kind, wherever it lies."""
        return [
            value if isinstance(value := entry.get("attributes"), dict) else {}
            for entry in self._entries(kind)
        ]

    def spans(self, kind: str, length: int) -> list[Span]:
        """Return the annotations of a kind that lie within a text of `length` characters."""
        spans = []
        for entry in self._entries(kind):
            start, end = _offset(entry.get("start")), _offset(entry.get("end"))
            if start is None or end is None:
                self._faults["annotation without offsets"].append(f"{kind} {clip(entry, 60)}")
            elif start > end:
                self._faults["annotation reversed"].append(f"{kind} {start}-{end}")
            elif end > length:
                self._faults["annotation out of range"].append(f"{kind} {start}-{end} of {length}")
            else:
                spans.append(Span(start, end))
        return spans

    def _entries(self, kind: str) -> list[dict[str, Any]]:
        listed = self._kinds.get(kind)
        if isinstance(listed, str):
            try:
                listed = read_json(listed)
            except RejectError as error:
                self._faults["annotations unreadable"].append(f"{kind}: {clip(error.detail, 60)}")
                return []
        if listed is None:
            return []
        if not isinstance(listed, list):
            self._faults["annotations unreadable"].append(f"{kind}: {clip(listed, 60)}")
            return []
        for entry in (entry for entry in listed if not isinstance(entry, dict)):
            self._faults["annotations unreadable"].append(f"{kind}: {clip(entry, 60)}")
        return [entry for entry in listed if isinstance(entry, dict)]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans that do not overlap and cover the same characters."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            first, end = merged.pop()
            span = Span(first, max(end, span.end))
        merged.append(span)
    return merged


def _offset(value: object) -> int | None:
    """Return an offset; early releases write it as a string."""
    if type(value) is str and len(value) < 12 and value.isascii() and value.isdigit():
        return int(value)
    return value if type(value) is int and value >= 0 else None


_BREAK = "\n\n"  # as between the paragraphs of the original


def parse_text(record: Any, sink: Sink, limits: RecordLimits) -> None:
    """Add the sections of a full text, and the citations of its bibliography."""
    record = record_of(record, "corpusid")
    if "content" not in record and "body" not in record:
        record_of(record, "content")
    paper = required_id(record["corpusid"])
    body = record["content"] if "content" in record else record["body"]
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise RejectError("no text", clip(text))
    if len(text) > limits.characters:
        raise RejectError("text too long", count(len(text), "character"))
    text = clean(text)
    faults = Faults(list)
    annotations = Annotations(body.get("annotations"), faults)
    listed = annotations
    if isinstance(bibliography := record.get("bibliography"), dict):
        # Its entries lie in a text of their own.
        listed = Annotations(bibliography.get("annotations"), faults)
    n_references, mentions = _bibliography(paper, listed, annotations, faults)
    sections, abstract = _sections(text, annotations, faults)
    if any(section["text"] for section in sections):
        sink.add("texts", (paper, abstract, sections, n_references))
    else:
        faults["no paragraphs"].append(f"in {count(len(text), 'character')}")
        if n_references:
            sink.add("bibliography", (paper, None, n_references))
    for cited, number in mentions.items():
        sink.add("bibliography", (paper, cited, number))
    for reason, details in faults.items():
        sink.flaw(reason, f"{len(details)} x, first {details[0]}")


def _sections(
    text: str, annotations: Annotations, faults: Faults
) -> tuple[list[dict[str, str]], str | None]:
    """Return the sections and the abstract.

    Captions and texts of figures and tables are left out: headers there ("Figure 2") would end the
    last section.
    """
    length = len(text)
    abstracts = annotations.spans("abstract", length)
    floats = (annotations.spans(kind, length) for kind in ("figure", "table"))
    zones = _merged([*abstracts, *chain.from_iterable(floats)])
    parts = [(span, True) for span in annotations.spans("sectionheader", length)]
    parts += [(span, False) for span in annotations.spans("paragraph", length)]
    sections: list[tuple[str, list[str]]] = [("", [])]
    position = 0
    for span, is_header in sorted(parts):
        if any(zone.start <= span.start and span.end <= zone.end for zone in zones):
            continue
        if span.start < position:
            kind = "sectionheader" if is_header else "paragraph"
            faults["annotations overlap"].append(f"{kind} {span.start}-{span.end}")
            continue
        position = span.end
        part = text[span.start : span.end].strip()
        if is_header:
            sections.append((" ".join(part.split()), []))
        elif part:
            sections[-1][1].append(part)
    return [
        {"heading": heading, "text": _BREAK.join(paragraphs)}
        for heading, paragraphs in sections
        if heading or paragraphs
    ], _joined(text, abstracts) or None


def _joined(text: str, spans: list[Span]) -> str:
    """Return the parts of a text, each once."""
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts.append(text[start:end].strip())
            position = end
    return _BREAK.join(part for part in parts if part)


def _bibliography(
    paper: str, listed: Annotations, annotations: Annotations, faults: Faults
) -> tuple[int, dict[str, int]]:
    """Return the number of entries, and how often the text mentions each paper that it cites.

    Where an entry lies in a text is of no interest, so it is kept wherever that is.
    """
    entries = listed.attributes("bibentry")
    mentions: dict[str, int] = {}
    matches: dict[str, str] = {}

    def match(attributes: Any) -> str | None:
        value = attributes.get("matched_paper_id")
        if value is None:
            return None
        cited = identifier(value)
        if cited is None:
            faults["matched_paper_id unreadable"].append(clip(value))
        elif cited == paper:
            faults["cites itself"].append(paper)
            return None
        return cited

    for entry in entries:
        if (cited := match(entry)) is not None:
            mentions.setdefault(cited, 0)
            if isinstance(key := entry.get("id"), str):
                matches.setdefault(key, cited)
    for reference in annotations.attributes("bibref"):
        key = reference.get("ref_id")
        cited = matches.get(key) if isinstance(key, str) else None
        if cited is None:  # the second version may have the match here, too
            cited = match(reference)
        if cited is not None:
            mentions[cited] = mentions.get(cited, 0) + 1
    return len(entries), mentions
