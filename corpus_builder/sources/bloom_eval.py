"""Bloom-Eval: the source named ``bloom-eval``."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from arena.errors import DataError
from arena.report import Reference
from arena.report.bibliography import read_bibliography
from arena.report.listing import cite
from arena.report.markdown import MATH, TextBlock
from arena.report.marks import HIDDEN, Inline, Mark
from arena.report.reading import as_cited, find_marks
from arena.text.identifiers import arxiv_key, doi_key, normal_title
from corpus_builder.sources.base import SOURCES
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    read_json,
)

_WHAT = "Bloom-Eval"
_TABLE = "experimental_topics.csv"
_STYLES = ("numbers", "author-year")
_FILES = "TOPIC/human/{expert_article,outline,reference}.json"


@SOURCES.register("bloom-eval")
class BloomEval(PublishedSource):
    """Bloom-Eval: surveys with outlines and references, joined to a collection by title.

    Nothing but the title of a reference is used: of their abstracts about 5 % belong to another
    paper, and some dates are the beginnings of arXiv identifiers. ``influential`` are the
    references that the text cites three times or more, where its citations are numbers that the
    article's own list explains (`count_mentions`).

    Args:
        outline_maps: Use the outline of a survey, its table of contents, as its mind-map.
    """

    name: ClassVar[str] = "bloom-eval"
    example: ClassVar[str] = "--input bloom_eval --papers papers.jsonl.gz"
    input_help: ClassVar[str] = f"Folder with {_FILES}"

    def __init__(
        self,
        input: str | Path,
        papers: str | Path,
        dates: str | Path | None = None,
        guess_dates: bool = False,
        outline_maps: bool = False,
    ) -> None:
        self._outline_maps = outline_maps
        super().__init__(input, papers, dates, guess_dates)

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys, one a folder."""
        folders = sorted(path.glob("*/human")) if path.is_dir() else []
        if not folders:
            raise DataError(f"{str(path)!r} holds no {_FILES}. Name the folder of {_WHAT}.")
        years = _years(path / _TABLE)
        for number, folder in enumerate(folders, 1):
            topic = folder.parent.name
            article, outline, listed = (
                self._read(topic, folder / f"{name}.json")
                for name in ("expert_article", "outline", "reference")
            )
            where = f"{topic}/human"
            keys = {"title": str, "reference": list, "context": dict}
            check_record(article, f"{where}/expert_article.json", keys, _WHAT)
            check_record(listed, f"{where}/reference.json", {}, _WHAT)
            entries = [
                check_record(entry, f"{where}/reference.json", {"title": str}, _WHAT)
                for entry in listed.values()
            ]
            citations = find_citations(entries, article["reference"], article["context"])
            identity = (arxiv_key(article.get("arxiv_id")), doi_key(article.get("doi_id")))
            yield PublishedSurvey(
                id=f"{self.name}:{topic}",
                listed_id=topic,
                itself=PaperQuery(article["title"], tuple(key for key in identity if key)),
                file=f"{where}/expert_article.json",
                line=number,
                references=[PaperQuery(e["title"], (), _year(e.get("date"))) for e in entries],
                mentions=count_mentions(citations, len(entries)),
                date=_year(article.get("date")) or years.get(topic),
                mind_map=outline if self._outline_maps else None,
                extra={"abstract": article.get("abstract"), "outline": outline},
                article=partial(write_article, article["title"], citations),
            )

    def _read(self, topic: str, path: Path) -> Any:
        return read_json(path, self._hashes, f"{topic}/{path.name}")


def _year(date: object) -> int | None:
    text = str(date)
    return int(text) if len(text) == 4 and text.isdecimal() and int(text) >= 1000 else None


def _years(path: Path) -> dict[str, int]:
    """Return the years of the table of topics; it may be missing, the articles have them too."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = ((row.get("topic_id"), _year(row.get("year"))) for row in csv.DictReader(file))
        return {topic: year for topic, year in rows if topic and year}


_RELIABLE = 0.9
_NUMBER = re.compile(r"^\s*(\d{1,3})\.\s*(?=[^\W\d])")
_STUCK = re.compile(r"(?<=[,.])(?=[A-Z]|and\b|(?:19|20)\d\d[a-z]?\.)")
_ZEROS = re.compile(r"(?<!\w)\d[\dOo]*[Oo][\dOo]*(?=[a-z]?\b)")
_INITIALS = re.compile(r"\s+[A-Z]{1,4}(?:-[A-Z])?\.?$")


class Citations(NamedTuple):
    """What an article cites.

    Attributes:
        sections: Heading, text and marks of each section, in order.
        places: Key of an entry of the article's list -> place of its record in the data set.
        numbered: Whether all its marks are numbers in square brackets.
    """

    sections: list[tuple[str, str, list[Mark]]]
    places: dict[str, int]
    numbered: bool


def find_citations(
    records: Sequence[Mapping[str, Any]], bibliography: Sequence[Any], sections: Mapping[str, Any]
) -> Citations:
    """Find the marks of an article, numbers or authors with years, through `arena.report`.

    A mark means an entry of the article's own list, not the record at that place of the data set:
    in one Bloom-Eval article (cs_08) the two orders part at 48 of 122. An entry is the record whose
    title it contains; if there is none, the only one left whose first author and year it contains.

    Args:
        records: ``title``, ``authors`` and ``date`` of each reference.
        bibliography: Entries of the article's list, such as ``[3] A. Author, "A title", 2020``.
        sections: Text of each section, by heading.
    """
    names = [_Name.of(record) for record in records]
    entries = [_mend(entry, names) for entry in bibliography if isinstance(entry, str)]
    blocks = [
        TextBlock(0, n, n + 1, "", False, Inline(text, text)) for n, text in enumerate(entries)
    ]
    listed = read_bibliography(blocks)
    texts = {
        heading: _zeros(text.strip()) if isinstance(text, str) else ""
        for heading, text in sections.items()
    }
    lines = [
        Inline(text, MATH.sub(lambda match: HIDDEN * len(match[0]), _plain(text)))
        for text in texts.values()
    ]
    called = {_plain(name): entry for name, entry in listed.names.items()}
    listed = as_cited(listed._replace(names=called | dict(listed.names)), lines)
    marks = [find_marks(line, listed, _STYLES, set()) for line in lines]
    return Citations(
        [(*section, of) for section, of in zip(texts.items(), marks, strict=True)],
        _places(listed.references, names),
        not (listed.authors or listed.bare or listed.rounded) and any(marks),
    )


class _Name(NamedTuple):
    """Title, first author and year of a record, as keys; and its authors."""

    title: str
    author: str
    year: str
    authors: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> _Name:
        authors = [str(author) for author in record.get("authors") or ()]
        first = _INITIALS.sub("", authors[0]).split()[-1:] if authors else []
        year = str(_year(record.get("date")) or "")
        return cls(
            normal_title(record["title"]), normal_title(*first or [""]), year, ", ".join(authors)
        )


def _mend(entry: str, names: Sequence[_Name]) -> str:
    """Return a recognised entry with its number in brackets, and the authors or year it lacks."""
    entry = _zeros(unicodedata.normalize("NFKC", entry)).rstrip(" .") + "."
    entry = _STUCK.sub(" ", _NUMBER.sub(r"[\1] ", entry))
    if not re.match(r"\D.*(?:19|20)\d\d", entry) and (place := _by_title(entry, names)) is not None:
        name = names[place]
        return f"{name.authors}. {entry}" if entry[0].isdigit() else f"{entry} {name.year}."
    return entry


def _zeros(text: str) -> str:
    """Return a recognised text with zeros for the letter O in numbers, as in 2O22."""
    return _ZEROS.sub(lambda match: re.sub("[Oo]", "0", match[0]), text)


def _plain(text: str) -> str:
    """Return a text without accents, of the same length."""
    return "".join(unicodedata.normalize("NFD", character)[0] for character in text)


def _places(entries: Sequence[Reference], names: Sequence[_Name]) -> dict[str, int]:
    """Return the place of the record of each entry, by key."""
    found = {
        entry.key: place for entry in entries if (place := _by_title(entry.text, names)) is not None
    }
    used = set(found.values())
    for entry in entries:
        if entry.key not in found:
            key = normal_title(entry.text)
            alike = [
                place
                for place, name in enumerate(names)
                if place not in used and name.author and name.author in key
                and name.year and name.year in key
            ]  # fmt: skip
            at_its_place = [place for place in alike if entry.key == str(place + 1)]
            if len(alike) == 1 or at_its_place:
                found[entry.key] = (at_its_place or alike)[0]
    return found


def _by_title(entry: str, names: Sequence[_Name]) -> int | None:
    """Return the place of the longest title that an entry contains."""
    key = normal_title(entry)
    held = [place for place, name in enumerate(names) if name.title and name.title in key]
    return max(held, key=lambda place: len(names[place].title), default=None)


def count_mentions(citations: Citations, references: int) -> list[int] | None:
    """Count the citations of each reference in an article that cites by ``[3]``.

    Returns:
        For each of so many references the number of marks that name it; None if the article has
        other marks, or its list has fewer than 9 in 10 of the references.
    """
    found = len(set(citations.places.values()))
    if not citations.numbered or found < _RELIABLE * max(1, references):
        return None
    marks = (mark for _, _, of in citations.sections for mark in of)
    counts = Counter(citations.places.get(each.key) for mark in marks for each in mark.references)
    return [counts[place] for place in range(references)]


def write_article(title: str, citations: Citations, ids: Sequence[str | None]) -> str:
    r"""Return an article as Markdown that cites papers as ``[@a; @b]``.

    A mark of papers that all have an id becomes their citation. Other marks stay, and the citation
    of those that have one follows; so it does behind names that are part of a sentence.

    Args:
        title: Title of the article.
        citations: Its sections; ``2.1 Nets`` is one level below ``2 Models``.
        ids: For each record the id of its paper, or None.

    >>> bibliography = ["[1] Ames. On nets.", "[2] Unknown."]
    >>> citations = find_citations([{"title": "On nets"}], bibliography, {"1 Past": "So [1], [2]."})
    >>> write_article("Nets", citations, ["a"])
    '# Nets\n\n## 1 Past\n\nSo [@a], [2].\n'
    """
    parts = [f"# {title}"]
    for heading, text, marks in citations.sections:
        number = re.match(r"\d+(?:\.\d+)*", heading)
        level = 2 + (number[0].count(".") if number else 0)
        parts.append(f"{'#' * min(level, 6)} {heading}")
        pieces, at = [], 0
        for mark in marks:
            places = [citations.places.get(each.key) for each in mark.references]
            known = [ids[place] for place in places if place is not None]
            cited = cite(dict.fromkeys(paper for paper in known if paper))
            stays = mark.kept or len(known) < len(places) or None in known
            shown = text[mark.start : mark.end] if stays else ""
            pieces += [text[at : mark.start], " ".join(filter(None, [shown, cited]))]
            at = mark.end
        if text:
            parts.append("".join([*pieces, text[at:]]))
    return "\n\n".join(parts) + "\n"
