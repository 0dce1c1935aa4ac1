"""LitSearch: the question format named ``litsearch``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.errors import DataError
from arena_suites.litsearch.source import PAPERS, QUERIES, TITLED, read_rows, title_of
from corpus_builder.questions import Question, question_format
from corpus_builder.sources.matching import PaperQuery, own_key

_COLUMNS = {"query": str, "query_set": str, "specificity": int, "corpusids": list}
_FAMILIES = {"inline": "inline", "manual": "author"}  # of queries, by how their set is called
_SPECIFICITY = {0: "broad", 1: "specific"}
_CUTOFF = "2024-07-01"  # the month of the published revision


@question_format("litsearch")
def read(path: Path) -> Iterator[Question]:
    """Queries of LitSearch, never tried on its published files (arXiv:2407.18940); a folder.

    No query has a day: the cutoff of all is 2024-07-01, or --before. The id of one is the number of
    its row, from 0, as in ``litsearch:17``.
    """
    titles = {row["corpusid"]: title_of(row) for _, _, row in read_rows(path, PAPERS, TITLED)}
    for file, number, row in read_rows(path, QUERIES, _COLUMNS):
        family = _FAMILIES.get(row["query_set"].partition("_")[0])
        specificity = _SPECIFICITY.get(row["specificity"])
        for column, known in ("query_set", family), ("specificity", specificity):
            if known is None:
                raise DataError(f"{file} row {number}: {column!r} is unknown: {row[column]!r}.")
        named = ((i, titles.get(i, "")) for i in row["corpusids"])
        yield Question(
            f"litsearch:{number - 1}",
            row["query"],
            "",
            tuple(PaperQuery(title, (own_key(i, title),)) for i, title in named),
            labels={"family": str(family), "specificity": str(specificity)},
            cutoff=_CUTOFF,
        )
