"""Bloom-Eval: the source named ``bloom-eval``."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError
from arena.report.listing import cite
from arena.text.identifiers import arxiv_key, doi_key
from arena_suites.recognised import Citations, find_citations, year_of
from corpus_builder.records import times_cited
from corpus_builder.sources.base import source
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    read_json,
)

_WHAT = "Bloom-Eval"
_TABLE = "experimental_topics.csv"
_FILES = "TOPIC/human/{expert_article,outline,reference}.json"


@source("bloom-eval")
class BloomEval(PublishedSource):
    """Bloom-Eval: surveys with outlines and references, joined to a collection by title.

    Nothing but the title of a reference is used: of their abstracts about 5 % belong to another
    paper, and some dates are the beginnings of arXiv identifiers. ``influential`` are the
    references that the text cites three times or more, where its citations are numbers that the
    article's own list explains (`count_mentions`).

    Args:
        input: Folder with ``TOPIC/human/{expert_article,outline,reference}.json``.
        outline_maps: Use the outline of a survey, its table of contents, as its mind-map.
    """

    name: ClassVar[str] = "bloom-eval"
    example: ClassVar[str] = "--input bloom_eval --papers papers.jsonl.gz"

    def __init__(self, *args: Any, outline_maps: bool = False, **options: Any) -> None:
        self._outline_maps = outline_maps
        super().__init__(*args, **options)

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys, one a folder."""
        folders = sorted(path.glob("*/human")) if path.is_dir() else []
        if not folders:
            raise DataError(f"{str(path)!r} contains no {_FILES}. Name the folder of {_WHAT}.")
        years = _years(path / _TABLE)
        for number, folder in enumerate(folders, 1):
            topic = folder.parent.name
            article, outline, listed = (
                read_json(folder / f"{name}.json", self._hashes, f"{topic}/{name}.json")
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
                references=[PaperQuery(e["title"], (), year_of(e.get("date"))) for e in entries],
                mentions=count_mentions(citations, len(entries)),
                date=year_of(article.get("date")) or years.get(topic),
                mind_map=outline if self._outline_maps else None,
                extra={
                    "abstract": article.get("abstract"),
                    "outline": outline,
                    "survey_citations": times_cited(article),
                },
                article=partial(write_article, article["title"], citations),
            )


def _years(path: Path) -> dict[str, int]:
    """Return the years of the table of topics; it may be missing, the articles have them too."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = ((row.get("topic_id"), year_of(row.get("year"))) for row in csv.DictReader(file))
        return {topic: year for topic, year in rows if topic and year}


_RELIABLE = 0.9
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


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
    ``2.1 Nets`` is one level below ``2 Models``, and so is ``A. Nets`` below ``II. Models``; a
    number that is stuck to its heading is parted from it. `ids` has the id of each record's paper,
    or None.

    >>> bibliography = ["[1] Ames. On nets.", "[2] Unknown."]
    >>> citations = find_citations([{"title": "On nets"}], bibliography, {"1 Past": "So [1], [2]."})
    >>> write_article("Nets", citations, ["a"])
    '# Nets\n\n## 1 Past\n\nSo [@a], [2].\n'
    """
    parts, chapters = [f"# {title}"], 0
    for heading, text, marks in citations.sections:
        heading = re.sub(r"^(\d+(?:\.\d+)*\.?)(?=[^\W\d])", r"\1 ", heading)
        number, level = re.match(r"\d+(?:\.\d+)*", heading), 2
        if chapters < len(_ROMAN) and heading.startswith(f"{_ROMAN[chapters]}. "):
            chapters += 1
        elif number or (chapters and re.match(r"[A-Z]\. ", heading)):
            level += number[0].count(".") if number else 1
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
