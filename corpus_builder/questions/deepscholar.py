"""DeepScholar-Bench: papers whose related work is wanted."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from arena.errors import DataError
from corpus_builder.questions import FORMATS, Question, named
from corpus_builder.sources.matching import PaperQuery


@FORMATS.register("deepscholar")
def read(path: Path) -> Iterator[Question]:
    """Abstracts of arXiv papers, with what their related work cites (arXiv:2508.20033); a folder.

    The day is that of the first version of the paper, which is hidden.
    """
    gold = defaultdict[str, list[PaperQuery]](list)
    try:
        for row in _rows(path / "citations.csv"):
            links = row["cited_paper_arxiv_link"], row["bib_paper_doi"]
            gold[row["parent_paper_arxiv_id"]].append(named(row["cited_paper_title"], *links))
        for row in _rows(path / "papers_with_related_works.csv"):
            asker = named(row["title"], row["arxiv_id"])
            name, day = row["arxiv_id"].partition("v")[0], row["published_date"][:10]
            cited = tuple(gold[row["arxiv_id"]])
            yield Question(f"DeepScholar_{name}", row["abstract"], day, cited, (asker,))
    except (OSError, KeyError) as error:
        raise DataError(
            f"{str(path)!r} is not the folder of DeepScholar-Bench: {error}. Name the folder with "
            "papers_with_related_works.csv and citations.csv."
        ) from None


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
