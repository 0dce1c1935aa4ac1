"""The content of a corpus, written from a database of staged tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from arena._internal.files import sha256_json
from arena.corpus import layout
from arena.dates import format_day
from corpus_builder._duckdb import count
from corpus_builder._links import write_links
from corpus_builder._papers import write_papers
from corpus_builder._tasks import write_tasks

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
        connection: with the tables of `corpus_builder._order.database`.
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
