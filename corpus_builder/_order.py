"""Second pass: find the document order, out of core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from arena.errors import DataError, clip
from corpus_builder._duckdb import connected, execute, literal

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
    """Open a database over the staged files, with the table ``documents`` in document order.

    Raises:
        DataError: if an id occurs twice.
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
