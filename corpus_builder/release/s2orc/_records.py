"""Records of the datasets ``papers``, ``abstracts`` and ``citations``."""

from __future__ import annotations

from typing import Any

from arena.errors import clip
from corpus_builder.records import title_key
from corpus_builder.release._dates import Limits, coarsen, resolve
from corpus_builder.release._tables import Sink
from corpus_builder.release._values import (
    clean,
    count_of,
    first_text,
    identifier,
    names_of,
    record_of,
    required_id,
    required_title,
)
from corpus_builder.release.base import RejectError


def parse_paper(record: Any, sink: Sink, limits: Limits, reviews: bool) -> None:
    """Add a paper.

    Args:
        record: of the dataset ``papers``.
        sink: takes the row.
        limits: dates that are plausible.
        reviews: a publication type ``Review`` makes it a survey.

    Raises:
        RejectError: if it has no id or title.
    """
    record = record_of(record, "corpusid", "title")
    paper, title = required_id(record["corpusid"]), required_title(record["title"])
    day, precision = resolve(
        coarsen(record.get("publicationdate"), "month"), record.get("year"), sink, limits
    ) or (None, None)
    journal, types = record.get("journal"), record.get("publicationtypes")
    row = (
        paper,
        title,
        title_key(title),
        day,
        precision,
        reviews and isinstance(types, list) and "Review" in types,
        count_of(record.get("referencecount"), "referencecount", sink),
        first_text(
            (record.get("venue"), journal.get("name") if isinstance(journal, dict) else None)
        ),
        names_of(record.get("authors"), "authors", sink, "name"),
        names_of(record.get("s2fieldsofstudy"), "s2fieldsofstudy", sink, "category"),
    )
    sink.add("papers", row)


def parse_abstract(record: Any, sink: Sink) -> None:
    """Add the abstract of a paper.

    Raises:
        RejectError: if it has no id, or is empty.
    """
    record = record_of(record, "corpusid", "abstract")
    paper, abstract = required_id(record["corpusid"]), record["abstract"]
    if not isinstance(abstract, str) or not abstract.strip():
        raise RejectError("no abstract", clip(abstract))
    sink.add("abstracts", (paper, clean(abstract)))


def parse_citation(record: Any, sink: Sink) -> None:
    """Add a citation; one of a paper that was not recognised, a fifth of all, is passed over.

    Raises:
        RejectError: if an id is unusable, or the two are the same.
    """
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
    if influential is None:
        influential = False
    elif influential is not True and influential is not False:
        sink.flaw("isinfluential unreadable", clip(influential))
        influential = False
    sink.add("citations", (one, other, influential))
