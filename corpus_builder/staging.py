"""Check the records of a source, stage them in files, and order the documents out of core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from arena.errors import DataError, clip
from arena.text.identifiers import title_key
from corpus_builder.content import LINKS, PROMPTS
from corpus_builder.database import connected, execute, literal
from corpus_builder.parquet import RowWriter, schema
from corpus_builder.records import PAPER_KEYS, SURVEY_KEYS, parse_paper, parse_survey
from corpus_builder.sources import LocatedRecord, Source
from corpus_builder.sources.matching import identifiers_of, paper_keys

PAPERS = schema(
    "id title title_key abstract day:int32 precision is_survey:bool venue authors:texts "
    "fields:texts arxiv_id doi sections:sections file line:int64"
)
SURVEYS = schema(
    "id title title_key day:int32 precision n_references_total:int64 mind_map arxiv_id doi "
    "prompts:prompts domain outline article listed_titles:texts file line:int64",
    prompts=PROMPTS,
)
REFERENCES = schema("citing cited influential:bool")


def stage(source: Source, directory: Path) -> dict[str, dict[str, int]]:
    """Write ``papers``, ``surveys`` and their references as Parquet into `directory`.

    Returns:
        ``papers`` and ``surveys``, where there are any, mapped to keys that nothing reads and the
        number of their records.

    Raises:
        DataError: If a record is unusable, naming its file and line; or if there are no papers.
    """
    unknown: dict[str, Counter[str]] = {"papers": Counter(), "surveys": Counter()}
    with (
        RowWriter(directory / "papers.parquet", PAPERS) as papers,
        RowWriter(directory / "references.parquet", REFERENCES) as references,
    ):
        for place, paper in _parsed(source.papers(), parse_paper, PAPER_KEYS, unknown["papers"]):
            day, precision = paper.date or (None, None)
            sections = [{"heading": heading, "text": text} for heading, text in paper.sections]
            papers.add(
                (paper.id, paper.title, title_key(paper.title), paper.abstract, day, precision,
                 paper.is_survey, paper.venue, paper.authors, paper.fields,
                 *identifiers_of(paper_keys(place.record)), sections, place.file, place.line)
            )  # fmt: skip
            for reference in paper.references:
                references.add((paper.id, *reference))
    with (
        RowWriter(directory / "surveys.parquet", SURVEYS) as surveys,
        RowWriter(directory / "survey_references.parquet", REFERENCES) as references,
    ):
        surveys_of = _parsed(source.surveys(), parse_survey, SURVEY_KEYS, unknown["surveys"])
        for place, survey in surveys_of:
            surveys.add(
                (survey.id, survey.title, title_key(survey.title), survey.date.day,
                 survey.date.precision, survey.n_references_total, survey.mind_map,
                 *identifiers_of(paper_keys(place.record)), survey.prompts or None, survey.domain,
                 survey.outline, survey.article, survey.listed_titles, place.file, place.line)
            )  # fmt: skip
            for reference in survey.references:
                references.add((survey.id, *reference))
    if not papers.count:
        raise DataError("the source holds no papers. Give at least one.")
    for keys in unknown.values():
        records = keys.pop(_ANY, 0)
        if len(keys) > _MOST_KEYS:  # not some of them, which would depend on the order of records
            keys.clear()
            keys[_ANY] = records
    return {what: dict(sorted(keys.items())) for what, keys in unknown.items() if keys}


_MOST_KEYS = 50
_ANY = "any of more than 50 keys"


def _parsed(
    records: Iterator[LocatedRecord], parse: Any, known: Set[str], unknown: Counter[str]
) -> Iterator[tuple[LocatedRecord, Any]]:
    for place in records:
        try:
            yield place, parse(place.record)
        except DataError as error:
            raise DataError(f"{place.file} line {place.line}: {error}") from None
        if keys := place.record.keys() - known:
            unknown[_ANY] += 1
            if len(unknown) <= _MOST_KEYS + 1:
                unknown.update(keys)


_MEMORY_LIMIT = 1_000_000_000

_STAGED = ("papers", "surveys", "references", "survey_references")

# A paper with the id or the title of a survey task is that survey, whatever its own flag says:
# hiding a namesake costs a paper, showing the survey would give the task away.
_DOCUMENTS = """
CREATE TABLE documents AS
SELECT (row_number() OVER (ORDER BY day NULLS LAST, id) - 1)::INTEGER AS document,
       id, day, survey, day IS NOT NULL AND NOT survey AS searchable
FROM (SELECT id, day, is_survey
             OR id IN (SELECT id FROM staged_surveys)
             OR title_key IN (SELECT title_key FROM staged_surveys WHERE title_key <> '')
             AS survey
      FROM staged_papers)
"""

# Of a release these come from other files than the papers, see corpus_builder.stages.corpus.
_PARTS = """
CREATE VIEW staged_abstracts AS
SELECT id, abstract, 0 AS rank, file, line FROM staged_papers WHERE abstract <> '';
CREATE VIEW staged_texts AS
SELECT id, sections, file, line FROM staged_papers WHERE len(sections) > 0;
"""


@contextmanager
def database(staging: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database over the staged files, with the tables ``documents`` and ``links``.

    Raises:
        DataError: If an id occurs twice.
    """
    with connected(staging / "spill", _MEMORY_LIMIT, 1) as connection:
        for name in _STAGED:
            connection.execute(
                f"CREATE VIEW staged_{name} AS "
                f"SELECT * FROM read_parquet({literal(staging / f'{name}.parquet')})"
            )
        for name in ("papers", "surveys"):
            _refuse_duplicates(connection, name)
        connection.execute(_PARTS)
        create_documents(connection)
        execute(connection, f"CREATE TABLE links AS {LINKS}")
        yield connection


def create_documents(connection: duckdb.DuckDBPyConnection) -> None:
    """Create ``documents(document, id, day, survey, searchable)``, one row a paper.

    It is made of ``staged_papers(id, title_key, day, is_survey)`` and
    ``staged_surveys(id, title_key)``.
    """
    execute(connection, _DOCUMENTS)


def _refuse_duplicates(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    twice = connection.execute(
        f"SELECT id, min(file), min(line, 2) AS lines FROM staged_{name} "
        "GROUP BY id HAVING count(*) > 1 ORDER BY lines[2], id LIMIT 1"
    ).fetchone()
    if twice:
        identifier, file, (first, second) = twice
        raise DataError(
            f"{file} lines {first} and {second}: both have id {clip(identifier)}. "
            "Ids are unique; remove or rename one."
        )
