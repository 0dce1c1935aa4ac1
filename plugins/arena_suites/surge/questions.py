"""SurGE: the question format named ``surge``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.errors import DataError
from arena_suites.surge.source import PAPER_KEYS, PAPERS, doc_ids, read_array, read_day
from corpus_builder.questions import Question, question_format
from corpus_builder.sources.matching import PaperQuery, own_key
from corpus_builder.sources.published import check_record

QUERIES = "queries.json"
_KEYS = {"original_id": str, "query_id": int, "prefix_titles_query": str, "prefix_titles": list,
         "cites": list}  # fmt: skip


@question_format("surge")
def read(path: Path) -> Iterator[Question]:
    """Sections of SurGE's surveys, never tried on the published files; its folder.

    The question is the title of a survey and of the sections down to one; its gold is what that
    section cites, its day that of the survey. Questions of one survey share a ``source``.
    """
    asked = []
    for number, record in read_array(path / QUERIES):
        where = f"{QUERIES} record {number}"
        check_record(record, where, _KEYS, "SurGE's queries.json")
        day = read_day(record, "date", where)
        if day is None:
            raise DataError(f"{where}: 'date' is empty: expected the day of the survey.")
        survey = str(next(iter(record["prefix_titles"]), ""))
        cites = doc_ids(record, "cites", where)
        asked.append((record["query_id"], record["prefix_titles_query"], day, cites, survey))
    cited, titles = {paper for row in asked for paper in row[3]}, {}
    for number, record in read_array(path / PAPERS):
        check_record(record, f"{PAPERS} record {number}", PAPER_KEYS, "SurGE's corpus.json")
        if (paper := str(record["doc_id"])) in cited:
            titles[paper] = record["Title"]
    for query, text, day, cites, survey in asked:
        gold = tuple(PaperQuery(titles.get(i, ""), (own_key(i, titles.get(i, "")),)) for i in cites)
        yield Question(f"surge-section:{query}", text, day, gold, source=survey)
