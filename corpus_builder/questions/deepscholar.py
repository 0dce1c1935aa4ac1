"""DeepScholar-Bench: papers whose related work is wanted."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO
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
    files = path / "citations.csv", path / "papers_with_related_works.csv"
    try:
        texts = (StringIO(file.read_text(encoding="utf-8")) for file in files)
        cited, papers = ([*csv.DictReader(text)] for text in texts)
        for row in cited:
            links = row["cited_paper_arxiv_link"], row["bib_paper_doi"]
            gold[row["parent_paper_arxiv_id"]].append(named(row["cited_paper_title"], *links))
        for row in papers:
            asker, day = named(row["title"], row["arxiv_id"]), row["published_date"][:10]
            name, of_paper = row["arxiv_id"].partition("v")[0], tuple(gold[row["arxiv_id"]])
            yield Question(f"DeepScholar_{name}", row["abstract"], day, of_paper, (asker,))
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{str(path)!r} is not the folder of DeepScholar-Bench: {error}.") from None
