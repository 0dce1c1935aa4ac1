"""Records of the full texts: dataset ``s2orc``, and ``s2orc_v2`` with other names for the same."""

from __future__ import annotations

from typing import Any

from arena.errors import clip
from corpus_builder.release._dates import Limits
from corpus_builder.release._tables import Sink
from corpus_builder.release._values import clean, identifier, record_of, required_id
from corpus_builder.release.base import RejectError
from corpus_builder.release.s2orc._spans import Annotations, Faults, Span, Zones

_BREAK = "\n\n"  # as between the paragraphs of the original


def parse_text(record: Any, sink: Sink, limits: Limits) -> None:
    """Add a full text in sections, and whom its bibliography cites.

    Args:
        record: of the dataset ``s2orc`` or ``s2orc_v2``.
        sink: takes the rows.
        limits: characters of a text.

    Raises:
        RejectError: if it has no id or text, or too long a text.
    """
    record = record_of(record, "corpusid")
    if "content" not in record and "body" not in record:
        record_of(record, "content")
    paper = required_id(record["corpusid"])
    body = record["content"] if "content" in record else record["body"]
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise RejectError("no text", clip(text))
    if len(text) > limits.characters:
        raise RejectError("text too long", f"{len(text):,} characters")
    text = clean(text)
    faults = Faults()
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
        faults.add("no paragraphs", f"in {len(text):,} characters")
    for cited, number in mentions.items():
        sink.add("bibliography", (paper, cited, number))
    faults.tell(sink)


def _sections(
    text: str, annotations: Annotations, faults: Faults
) -> tuple[list[dict[str, str]], str | None]:
    """Return the sections and the abstract.

    Captions and what stands in figures and tables is no prose: headers there ("Figure 2") would
    end the last section.
    """
    length = len(text)
    abstracts = annotations.spans("abstract", length)
    zones = Zones(
        [
            *abstracts,
            *annotations.spans("figure", length),
            *annotations.spans("table", length),
        ]
    )
    parts = [(span, True) for span in annotations.spans("sectionheader", length)]
    parts += [(span, False) for span in annotations.spans("paragraph", length)]
    sections: list[dict[str, str]] = []
    heading, paragraphs, position = "", [], 0  # type: str, list[str], int

    def close() -> None:
        if heading or paragraphs:
            sections.append({"heading": heading, "text": _BREAK.join(paragraphs)})

    for span, is_header in sorted(parts):
        if span in zones:
            continue
        if span.start < position:
            kind = "sectionheader" if is_header else "paragraph"
            faults.add("annotations overlap", f"{kind} {span.start}-{span.end}")
            continue
        position = span.end
        part = text[span.start : span.end].strip()
        if is_header:
            close()
            heading, paragraphs = " ".join(part.split()), []
        elif part:
            paragraphs.append(part)
    close()
    return sections, _joined(text, abstracts) or None


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
        told = attributes.get("matched_paper_id")
        if told is None:
            return None
        cited = identifier(told)
        if cited is None:
            faults.add("matched_paper_id unreadable", clip(told))
        elif cited == paper:
            faults.add("cites itself", paper)
            return None
        return cited

    for entry in entries:
        if (cited := match(entry)) is not None:
            mentions.setdefault(cited, 0)
            if isinstance(key := entry.get("id"), str):
                matches.setdefault(key, cited)
    for reference in annotations.attributes("bibref"):
        key = reference.get("ref_id")
        found = matches.get(key) if isinstance(key, str) else None
        if found is None:  # the second version may tell the match here, too
            found = match(reference)
        if found is not None:
            mentions[found] = mentions.get(found, 0) + 1
    return len(entries), mentions
