"""OpenAlex's works: the source named ``openalex``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import clip
from arena.text.identifiers import arxiv_key, doi_key, normal_title
from corpus_builder.release import RecordLimits, RejectError, Release, Shard, Sink
from corpus_builder.release.folder import existing_folder, is_shard, make_shard, no_shards, year_of
from corpus_builder.release.values import (
    clean,
    coarsen,
    count_of,
    first_text,
    names_of,
    record_of,
    required_title,
    resolve,
)
from corpus_builder.sources.base import source
from corpus_builder.sources.matching import identifiers_of

_PLACES = ("works", "data/works", "data/jsonl/works", "jsonl/works")
_PARTITION = "updated_date="


@source("openalex")
class OpenAlex(Release):
    """OpenAlex's works, as JSON lines: papers, abstracts, citations, no full texts.

    Args:
        input: Folder of the snapshot, or of files of works.
        reviews: Count works of the type ``review`` as surveys.
    """

    example: ClassVar[str] = "--input DIR --config configs/openalex.yaml"
    repeats: ClassVar[bool] = True  # a work that was updated stands in two folders

    def __init__(self, input: str | Path, reviews: bool = False) -> None:
        self._path = existing_folder(input)
        self._reviews = reviews

    @property
    def year(self) -> int | None:
        """The year of the latest partition, if there are partitions."""
        return year_of(self._latest())

    def _latest(self) -> str | None:
        parts = (part for shard in self.shards() for part in shard.name.split("/"))
        days = (part.removeprefix(_PARTITION) for part in parts if part.startswith(_PARTITION))
        return max(days, default=None)

    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name: the oldest partition first."""
        works = next((w for p in _PLACES if (w := self._path / p).is_dir()), None)
        if works is None:
            works = self._path
            folders = [works, *(f for f in works.iterdir() if f.name.startswith(_PARTITION))]
            files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
        else:
            files = list(works.rglob("*"))
        by_name = {
            file.relative_to(works).as_posix(): file
            for file in files
            if is_shard(file) and file.name != "manifest.json"
        }
        if not by_name:
            layouts = "no file *.gz, works/*.gz or works/updated_date=*/*.gz"
            advice = "Of the snapshot's two formats take the JSON lines"
            raise no_shards(self._path, "works", f"{layouts}. {advice}")
        shards = [make_shard("works", name, path) for name, path in by_name.items()]
        return sorted(shards, key=lambda shard: shard.name)

    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Add a work: paper, abstract, and citations."""
        add_work(record, sink, limits, self._reviews)

    def describe(self) -> dict[str, Any]:
        """Return the latest partition, the number of shards, and what is missing."""
        return {
            "source": "openalex",
            "release": self._latest(),
            "shards": {"works": len(self.shards())},
            "missing": {
                "full text": "no sections and no in-text mentions",
                "influential": "the release marks no reference as influential",
            },
            "reviews": self._reviews,
        }


def add_work(record: Any, sink: Sink, limits: RecordLimits, reviews: bool = False) -> None:
    """Add a work to `sink`: paper, abstract, and citations; RejectError if it is useless."""
    record = record_of(record, "id", "publication_year")
    work, kind = work_id(record["id"]), record.get("type")
    if work is None:
        raise RejectError("no id", clip(record["id"]))
    if record.get("is_paratext") is True:
        kind = "paratext"
    if isinstance(kind, str) and kind in NO_PAPERS:
        sink.skip(f"no paper: {kind}")
        return
    title = required_title(first_text((record.get("title"), record.get("display_name"))))
    date = coarsen(record.get("publication_date"), "year")
    day, precision = resolve(date, record["publication_year"], sink, limits) or (None, None)
    cited, total = _references(work, record, sink)
    row = (
        work,
        title,
        normal_title(title),
        day,
        precision,
        reviews and kind == "review",
        total,
        _venue(record),
        names_of(record.get("authorships"), "authorships", sink, "author", "display_name"),
        _fields(record, sink),
        *identifiers_of(_keys(record)),
        count_of(record.get("cited_by_count"), "cited_by_count", sink),
    )
    sink.add("papers", row)
    abstract = read_abstract(record.get("abstract_inverted_index"), limits.characters, sink)
    if abstract:
        sink.add("abstracts", (work, abstract))
    for other in cited:
        sink.add("citations", (work, other, False))


NO_PAPERS = frozenset(
    ("dataset", "erratum", "grant", "libguides", "paratext", "peer-review", "retraction",
     "software", "supplementary-materials")
)  # fmt: skip
"""Types of works that nobody would list as literature, or that are part of another work."""


def work_id(value: object) -> str | None:
    """Return ``W123`` of ``https://openalex.org/W123``; None if it is another entity.

    >>> work_id("https://openalex.org/W123"), work_id("https://openalex.org/A123")
    ('W123', None)
    """
    if not isinstance(value, str) or len(value) > 100:
        return None
    name = value.rpartition("/")[2]
    digits = name[1:]
    return name if name[:1] == "W" and digits.isascii() and digits.isdigit() else None


def read_abstract(value: object, characters: int, sink: Sink) -> str:
    """Return the text of an inverted index: word -> its positions, from 0.

    Another value, or a text of more than `characters`, is a flaw, and the text is empty.
    """
    if value is None:
        return ""
    index: dict[str, Any] = value if isinstance(value, dict) else {"": value}
    lists = list(index.values())
    positions = list(chain.from_iterable(lists)) if set(map(type, lists)) <= {list} else [-1]
    if positions and (set(map(type, positions)) != {int} or min(positions) < 0):
        sink.flaw("abstract unreadable", clip(value))
        return ""
    words = list(chain.from_iterable(map(repeat, index, map(len, lists))))
    if sum(map(len, words)) + len(words) > characters:
        sink.flaw("abstract too long", f"more than {characters:,} characters")
        return ""
    ordered = [word for _, word in sorted(zip(positions, words, strict=True))]
    return clean(" ".join(ordered)).strip()


def _keys(record: dict[str, Any]) -> Iterator[str]:
    """Yield the DOI of a work, and the arXiv identifiers of its places."""
    if doi := doi_key(record.get("doi")):
        yield doi
    places = record.get("locations")
    for place in places if isinstance(places, list) else ():
        if isinstance(place, dict) and (key := arxiv_key(place.get("landing_page_url"))):
            yield key


def _references(work: str, record: dict[str, Any], sink: Sink) -> tuple[list[str], int | None]:
    """Return the distinct works that are cited, and how many the record counts."""
    listed = record.get("referenced_works")
    total = count_of(record.get("referenced_works_count"), "referenced_works_count", sink)
    if not isinstance(listed, list):
        if listed is not None:
            sink.flaw("referenced_works unreadable", clip(listed))
        return [], total
    cited = dict.fromkeys(map(work_id, listed))
    if None in cited:
        unreadable = [value for value in listed if work_id(value) is None]
        sink.flaw("referenced_works unreadable", f"{len(unreadable)} x, {clip(unreadable[0])}")
    if work in cited:
        del cited[work]
        sink.flaw("cites itself", work)
    return [other for other in cited if other], len(listed) if total is None else total


def _venue(record: dict[str, Any]) -> str | None:
    place = record.get("primary_location")
    source = place.get("source") if isinstance(place, dict) else None
    return first_text([source.get("display_name")]) if isinstance(source, dict) else None


def _fields(record: dict[str, Any], sink: Sink) -> list[str]:
    """Return the fields of the topics; of a snapshot before topics, the broadest concepts."""
    topics = record.get("topics")
    if topics:
        return names_of(topics, "topics", sink, "field", "display_name")
    concepts = record.get("concepts")
    if isinstance(concepts, list):
        concepts = [c for c in concepts if not isinstance(c, dict) or c.get("level") == 0]
    return names_of(concepts, "concepts", sink, "display_name")
