"""Bloom-Eval: the source named ``bloom-eval``."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError
from corpus_builder.sources.base import SOURCES
from corpus_builder.sources.matching import PaperQuery, arxiv_key, doi_key, normal_title
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    read_json,
)

_WHAT = "Bloom-Eval"
_TABLE = "experimental_topics.csv"
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
            titles = [entry["title"] for entry in entries]
            identity = (arxiv_key(article.get("arxiv_id")), doi_key(article.get("doi_id")))
            yield PublishedSurvey(
                id=f"{self.name}:{topic}",
                listed_id=topic,
                itself=PaperQuery(article["title"], tuple(key for key in identity if key)),
                file=f"{where}/expert_article.json",
                line=number,
                references=[PaperQuery(e["title"], (), _year(e.get("date"))) for e in entries],
                mentions=count_mentions(titles, article["reference"], article["context"]),
                date=_year(article.get("date")) or years.get(topic),
                mind_map=outline if self._outline_maps else None,
                extra={"abstract": article.get("abstract"), "outline": outline},
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


_LABEL = re.compile(r"\[(\d{1,3})\]")
_RANGE = re.compile(r"\[(\d{1,3})\]\s*[-–—]\s*\[(\d{1,3})\]")
_GROUP = re.compile(r"\[(\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*)\]")
_RELIABLE = 0.9
_LONGEST_RANGE = 50


def count_mentions(
    titles: Sequence[str], bibliography: Sequence[Any], sections: Mapping[str, Any]
) -> list[int] | None:
    """Count the citations of references in a text that cites by numbers in square brackets.

    A number counts for the reference whose title stands in the entry of the article's own list
    that has this number, not for the one at that place in the data set: in one Bloom-Eval article
    (cs_08) the two orders part at 48 of 122.

    Args:
        titles: Titles of the references.
        bibliography: Entries of the article's list, such as ``[3] A. Author, "A title", 2020``.
        sections: Text of each section, by heading.

    Returns:
        For each title the number of citations; None if fewer than 9 in 10 titles stand in a
        numbered entry, or the text has no such citation.

    >>> count_mentions(["On nets"], ["[1] A. Ames. On Nets."], {"1": "See [1], [1]-[2], (1)."})
    [2]
    """
    numbers = _numbers([normal_title(title) for title in titles], _entries(bibliography))
    if sum(number is not None for number in numbers) < _RELIABLE * max(1, len(titles)):
        return None
    cited = Counter(
        number for text in sections.values() if isinstance(text, str) for number in _cited(text)
    )
    return [0 if number is None else cited[number] for number in numbers] if cited else None


def _entries(bibliography: Sequence[Any]) -> dict[int, str]:
    """Return the entries by number; a scanned entry may hold two."""
    entries: dict[int, str] = {}
    for scanned in bibliography:
        if isinstance(scanned, str) and _LABEL.match(scanned.strip()):
            _, *parts = _LABEL.split(scanned)
            for number, entry in zip(parts[::2], parts[1::2], strict=True):
                entries.setdefault(int(number), normal_title(entry))
    return entries


def _numbers(titles: list[str], labels: Mapping[int, str]) -> list[int | None]:
    """Return the number of each title; an entry belongs to the longest title that it contains."""
    best: dict[int, str] = {}
    for number, entry in labels.items():
        best[number] = max((t for t in titles if t and t in entry), key=len, default="")
    by_title: dict[str, int] = {}
    for number, title in best.items():
        by_title.setdefault(title, number)
    return [by_title.get(title) if title else None for title in titles]


def _cited(text: str) -> list[int]:
    """Return the cited numbers, with ranges expanded."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(text):
        numbers += (
            range(int(first), int(last) + 1) if _sane(first, last) else (int(first), int(last))
        )
    for group in _GROUP.findall(_RANGE.sub(" ", text)):
        for part in re.split(r"\s*[,;]\s*", group):
            first, *rest = re.split(r"\s*[–—-]\s*", part)
            last = rest[-1] if rest else first
            numbers += range(int(first), int(last) + 1) if _sane(first, last) else (int(first),)
    return numbers


def _sane(first: str, last: str) -> bool:
    return 0 <= int(last) - int(first) < _LONGEST_RANGE
