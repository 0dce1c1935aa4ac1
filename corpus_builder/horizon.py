"""The same task as of three days: before anything was there, halfway, and its own day."""

from __future__ import annotations

import duckdb

from arena.errors import DataError
from corpus_builder.database import execute, rows

_TRIPLES = """
CREATE TABLE triples AS
WITH reached AS (
    SELECT s.id AS origin, s.day AS own, list_sort(list(d.day)) AS days
    FROM staged_surveys s JOIN staged_survey_references r ON r.citing = s.id
    JOIN documents d ON d.id = r.cited
    WHERE d.day < s.day AND NOT d.survey GROUP BY ALL
), dated AS (
    SELECT origin, own, days[1] - 1 AS none, days[(len(days) + 1) // 2] + 1 AS half FROM reached
    WHERE half <= days[-1] AND none > (SELECT min(day) FROM documents WHERE NOT survey)
), each_day AS (
    SELECT origin, own, unnest([none, half, own]) AS day FROM dated
)
SELECT *, origin || '@' || strftime(DATE '1970-01-01' + day, '%Y-%m-%d') AS id FROM each_day;
CREATE OR REPLACE TABLE staged_survey_references AS
SELECT t.id AS citing, cited, influential
FROM staged_survey_references JOIN triples t ON t.origin = citing;
CREATE OR REPLACE TABLE staged_surveys AS
SELECT s.* REPLACE (
    t.id AS id, t.day AS day, coalesce(cluster::VARCHAR, s.id) AS cluster,
    CASE WHEN t.day = own THEN precision ELSE 'day' END AS precision
) FROM staged_surveys s JOIN triples t ON t.origin = s.id
"""


def stage_triples(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Put three topics in the place of each staged one; return new id -> the id that it is of.

    The cutoffs are the day before the first gold paper, when no gold is in reach; the first day on
    which at least half of it is; and the topic's own. An id is ``ID@DAY``, so it says no more than
    the cutoff does, and the three share a cluster. A topic is left out if all its gold came on one
    day or by the middle one, and if nothing at all is in reach before its gold.

    `connection` has the tables ``staged_surveys`` and ``staged_survey_references``, which
    `corpus_builder.content.write_tasks` reads, and ``documents``.
    """
    execute(connection, _TRIPLES)
    made = dict(rows(connection, "SELECT id, origin FROM triples"))
    if not made:
        raise DataError(
            "no task has gold of two days after the first paper of the corpus, so none has three "
            "days. Leave --horizon out, or build a larger corpus."
        )
    return made
