"""The content of a corpus, written from a database of staged tables: papers, links, tasks."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from arena._internal.files import sha256_json
from arena.corpus import layout
from arena.dates import format_day
from corpus_builder._duckdb import count, rows
from corpus_builder._links import write_links
from corpus_builder._papers import write_papers
from corpus_builder._parquet import RowWriter

Written = tuple[str, dict[str, int]]
"""A content hash, and counts."""

Links = Callable[[duckdb.DuckDBPyConnection, Path], Written]
Once = Callable[[str, Callable[[], Any]], Any]


def write_content(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    scratch: Path,
    once: Once = lambda _, work: work(),
    links: Links | None = None,
) -> dict[str, Any]:
    """Write all files of a corpus but its indexes and its manifest.

    Args:
        connection: with the tables of `corpus_builder._staging.database`.
        directory: of the corpus.
        scratch: directory for what is removed again.
        once: calls a step, or returns what an earlier run's call of it returned.
        links: writes the links, if they are not to be made of ``staged_references``.

    Returns:
        ``content_sha256``, ``tasks_sha256``, ``counts``, ``dates`` for the manifest.
    """
    papers, sections = once("papers", lambda: write_papers(connection, directory, scratch))
    references, link_counts = once("links", lambda: (links or write_links)(connection, directory))
    tasks, task_counts = once("tasks", lambda: write_tasks(connection, directory))
    hashes = {"papers": papers, "references": references, "tasks": tasks}
    counts = {
        "papers": count(connection, "SELECT count(*) FROM documents"),
        "searchable": count(connection, "SELECT count(*) FROM documents WHERE searchable"),
        "undated": count(connection, "SELECT count(*) FROM documents WHERE day IS NULL"),
        "survey_papers": count(connection, "SELECT count(*) FROM documents WHERE survey"),
        "survey_papers_unflagged": count(
            connection,
            "SELECT count(*) FROM documents d JOIN staged_papers p USING (id) "
            "WHERE d.survey AND NOT p.is_survey",
        ),
        "unflagged_survey_titles": count(
            connection,
            "SELECT count(*) FROM documents d JOIN staged_papers p USING (id) "
            "WHERE d.searchable AND p.title ILIKE '%survey%'",
        ),
        "sections": sections,
        **link_counts,
        **task_counts,
    }
    days = connection.execute("SELECT min(day), max(day) FROM documents WHERE searchable")
    first, last = days.fetchone() or (None, None)
    return {
        "format_version": layout.FORMAT_VERSION,
        "content_sha256": sha256_json({"format_version": layout.FORMAT_VERSION, **hashes}),
        "tasks_sha256": tasks,
        "counts": counts,
        "dates": {
            "first": None if first is None else format_day(first),
            "last": None if last is None else format_day(last),
        },
    }


_EPOCH = dt.date(1970, 1, 1)

SURVEYS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("date", pa.date32()),
        ("date_precision", pa.string()),
    ]
)
GOLD = pa.schema(
    [
        ("survey", pa.string()),
        ("reference", pa.string()),
        ("influential", pa.bool_()),
        ("document", pa.int32()),
        ("status", pa.string()),
    ]
)
MIND_MAPS = pa.schema(
    [("survey", pa.string()), ("n_references_total", pa.int64()), ("mind_map", pa.string())]
)

# The order of the cases is the order in which a reference is refused.
_GOLD = """
SELECT s.id AS survey, r.cited AS reference, bool_or(r.influential) AS influential,
       any_value(d.document) AS document,
       any_value(CASE WHEN d.id IS NULL THEN 'unknown'
                      WHEN d.day IS NULL THEN 'undated'
                      WHEN d.survey THEN 'survey'
                      WHEN d.day >= s.day THEN 'not_before'
                      ELSE 'gold' END) AS status
FROM staged_survey_references r
JOIN staged_surveys s ON s.id = r.citing
LEFT JOIN documents d ON d.id = r.cited
GROUP BY s.id, r.cited ORDER BY s.id, document NULLS LAST, r.cited
"""


def write_tasks(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, dict[str, int]]:
    """Write the files under tasks/; return their content hash and the counts by status."""
    digest = hashlib.sha256()
    counts = {"surveys": 0, "surveys_with_gold": 0, "mind_maps": 0}
    with (
        RowWriter(output / layout.SURVEYS, SURVEYS) as surveys,
        RowWriter(output / layout.MIND_MAPS, MIND_MAPS) as labels,
    ):
        for row in rows(
            connection,
            "SELECT id, title, day, precision, n_references_total, mind_map "
            "FROM staged_surveys ORDER BY id",
        ):
            id_, title, day, precision, total, mind_map = row
            surveys.add((id_, title, _EPOCH + dt.timedelta(days=day), precision))
            labels.add((id_, total, mind_map))
            counts["surveys"] += 1
            counts["mind_maps"] += mind_map is not None
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    by_status = dict.fromkeys(("gold", "unknown", "undated", "survey", "not_before"), 0)
    with_gold = set()
    with RowWriter(output / layout.GOLD, GOLD) as gold:
        for row in rows(connection, _GOLD):
            gold.add(row)
            status = row[4]
            by_status[status] += 1
            if status == "gold":
                with_gold.add(row[0])
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    counts["surveys_with_gold"] = len(with_gold)
    counts |= {f"survey_references_{status}": number for status, number in by_status.items()}
    return digest.hexdigest(), counts
