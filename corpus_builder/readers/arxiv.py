"""arXiv's metadata snapshot: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.text.identifiers import arxiv_key, arxiv_month
from corpus_builder.records import version_day
from corpus_builder.sources.base import LocatedRecord
from corpus_builder.sources.jsonl import JsonLinesFile


def read_arxiv(path: str | Path) -> Iterator[LocatedRecord]:
    """Yield the records of a snapshot, plain or gzip, with their arXiv id under ``arxiv_id``.

    The snapshot has it under ``id``, ReportBench's records under ``arxiv_id``.

    Raises:
        DataError: If a line is not an object with an arXiv id and a title.
    """
    for raw, file, line in JsonLinesFile(path, "papers"):
        where = f"{file} line {line}"
        known = raw.get("arxiv_id", raw.get("id")) if isinstance(raw, Mapping) else None
        key = arxiv_key(known)
        if key is None or not isinstance(raw.get("title"), str):
            raise DataError(
                f"{where}: {clip(raw)} is not a record of arXiv's metadata, which has an arXiv "
                "id, such as 2312.04861, and a title."
            )
        yield LocatedRecord({**raw, "arxiv_id": key.removeprefix("arxiv:")}, file, line)


def first_day(record: Mapping[str, Any]) -> str | None:
    """Return the day of the first version, else the month that the id names."""
    return version_day(record.get("versions")) or arxiv_month(f"arxiv:{record['arxiv_id']}")


def as_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of `read_arxiv` as a paper; `corpus_builder.records` lists the keys."""
    names = record.get("authors_parsed")
    people = [" ".join(reversed(name[:2])).strip() for name in names or () if name]
    return {
        "id": f"arxiv:{record['arxiv_id']}",
        "title": record["title"],
        "abstract": record.get("abstract"),
        "date": first_day(record),
        "authors": people or None,
        "venue": record.get("journal-ref"),
        "fields": str(record.get("categories") or "").split() or None,
        "arxiv_id": record["arxiv_id"],
        "doi": record.get("doi"),
    }
