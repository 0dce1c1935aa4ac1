"""The stage ``references``: document order, links, tasks (paper, section 3.2)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.workdir import atomic_directory
from arena.errors import DataError
from corpus_builder.content import DANGLING, LINKS
from corpus_builder.database import connected, copy, count, execute, literal, rows
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.reading import CORPUS, PARSE, SHARDS
from corpus_builder.stages.surveys import CANDIDATES, SURVEYS
from corpus_builder.staging import create_documents

TABLES = ("citations", "bibliography")
"""Those of a shard that hold references."""

LINKED = "links.parquet"
"""One row a link between searchable papers, ordered by both ends."""

LISTED = "survey_references.parquet"
"""One row a reference of a survey: ``citing, cited, influential``."""

COUNTS = "counts.json"


class LinkTask(NamedTuple):
    """One shard whose references are to be linked.

    Attributes:
        name: Name of the shard.
        files: Its tables ``citations`` and ``bibliography``, by name, if it has them.
        documents: Parquet file, see `DOCUMENTS`.
        surveys: Parquet file with the column ``id`` of the surveys.
        mentions: ``influential_mentions`` of the configuration.
        directory: Directory of the tables, which appears when they are complete.
        memory: Memory limit of DuckDB in bytes.
    """

    name: str
    files: dict[str, Path]
    documents: Path
    surveys: Path
    mentions: int | None
    directory: Path
    memory: int


def link_shard(task: LinkTask) -> str:
    """Write ``links.parquet``, ``survey_references.parquet`` and counts of one shard.

    Returns:
        The name of the shard.
    """
    with atomic_directory(task.directory) as new:
        with connected(new / "spill", task.memory, 1) as connection:
            connection.execute(
                f"CREATE VIEW documents AS SELECT * FROM read_parquet({literal(task.documents)});"
                f"CREATE VIEW surveys AS SELECT * FROM read_parquet({literal(task.surveys)});"
                f"CREATE VIEW staged_references AS {_references(task)}"
            )
            copy(connection, LINKS, new / LINKED, "citing, cited")
            listed = (
                "SELECT citing, cited, bool_or(influential) AS influential FROM staged_references "
                "WHERE citing IN (SELECT id FROM surveys) AND citing <> cited GROUP BY ALL"
            )
            copy(connection, listed, new / LISTED, "citing, cited")
            counts = {"dangling": count(connection, DANGLING)}
        shutil.rmtree(new / "spill", ignore_errors=True)
        write_json(new / COUNTS, counts)
    return task.name


def _references(task: LinkTask) -> str:
    """Return a query for all references of a shard."""
    influential = "false" if task.mentions is None else f"mentions >= {task.mentions}"
    marks = {"citations": "influential", "bibliography": influential}
    parts = [
        f"SELECT citing, cited, {marks[name]} AS influential FROM read_parquet({literal(path)})"
        for name, path in sorted(task.files.items())
    ]
    return " UNION ALL ".join(parts)


DOCUMENTS = "documents.parquet"
"""One row a paper in document order: ``document, id, day, survey, searchable``."""
TASKS = "surveys.parquet"
"""One row a survey task: ``id, title, title_key, day, precision, n_references_total``."""

COVERAGE = "coverage.parquet"
"""One row a selected survey: ``id, title, fate`` (``kept``, or why it is no task),
``n_references_total, in_corpus`` (of them), ``available`` (of those, to an agent)."""

_IDS = "ids.parquet"  # of all surveys

# Whoever may be a survey is hidden, also where no judgement could be had.
_PAPERS = """
CREATE VIEW {papers} AS
SELECT c.* REPLACE (c.is_survey OR coalesce(k.verdict <> 'other', false) AS is_survey)
FROM read_parquet({corpus}) c LEFT JOIN read_parquet({candidates}) k USING (id)
"""
_SURVEYS = """
CREATE VIEW {surveys} AS
SELECT c.id, c.title, c.title_key, c.first_day AS day, c.first_precision AS precision,
       c.n_references, c.listed
FROM read_parquet({corpus}) c JOIN read_parquet({candidates}) k USING (id)
WHERE k.verdict = 'survey'
"""


def _inputs(plan: Plan) -> Any:
    """Return the section ``references`` of the configuration."""
    return list(plan.config.references.model_dump().values())


def _run(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write documents, links, surveys and their references."""
    documents = steps.once("documents", lambda: _documents(plan, steps))
    _link(plan, steps)
    links = steps.once("links", lambda: _merge(plan, steps))
    tasks = steps.once("surveys", lambda: _surveys(plan, steps))
    shutil.rmtree(steps.directory / SHARDS, ignore_errors=True)
    return {**documents, **links, "surveys": tasks}


def _documents(plan: Plan, steps: Steps) -> dict[str, Any]:
    with _opened(plan, steps) as connection:
        create_documents(connection)
        copy(connection, "SELECT * FROM documents", steps.directory / DOCUMENTS, "document")
        copy(connection, "SELECT id FROM staged_surveys", steps.directory / _IDS, "id")
        return {
            "papers": count(connection, "SELECT count(*) FROM documents"),
            "searchable": count(connection, "SELECT count(*) FROM documents WHERE searchable"),
            "undated": count(connection, "SELECT count(*) FROM documents WHERE day IS NULL"),
            "hidden_surveys": count(connection, "SELECT count(*) FROM documents WHERE survey"),
        }


def _link(plan: Plan, steps: Steps) -> None:
    parsed = plan.stage(PARSE.name) / SHARDS
    tasks, total = [], 0
    for shard in plan.release.shards():
        files = {name: parsed / shard.name / f"{name}.parquet" for name in TABLES}
        files = {name: path for name, path in files.items() if path.exists()}
        directory = steps.directory / SHARDS / shard.name
        total += bool(files)
        if files and not directory.exists():
            directory.parent.mkdir(parents=True, exist_ok=True)
            tasks.append(
                LinkTask(
                    shard.name, files, steps.directory / DOCUMENTS,
                    steps.directory / _IDS,
                    plan.config.references.influential_mentions, directory,
                    plan.resources.each,
                )
            )  # fmt: skip
    with progress(total=total, initial=total - len(tasks), desc="link", unit="shard") as bar:
        for _ in plan.executor.run(link_shard, tasks):
            bar.update()


def _merge(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Merge the links of all shards: several shards may hold one paper's."""
    with _opened(plan, steps) as connection:
        for name in (LINKED, LISTED):
            files = sorted((steps.directory / SHARDS).rglob(name))
            kind = "INTEGER" if name == LINKED else "VARCHAR"
            merged = (
                "SELECT citing, cited, bool_or(influential) AS influential FROM "
                f"read_parquet([{', '.join(map(literal, files))}]) GROUP BY ALL"
                if files
                else f"SELECT NULL::{kind} AS citing, NULL::{kind} AS cited, "
                "false AS influential WHERE false"
            )
            copy(connection, merged, steps.directory / name, "citing, cited")
        links = count(
            connection,
            f"SELECT count(*) FROM read_parquet({literal(steps.directory / LINKED)})",
        )
    dangling = sum(
        int(json.loads(path.read_bytes())["dangling"])
        for path in (steps.directory / SHARDS).rglob(COUNTS)
    )
    return {"links": links, "dangling_references": dangling}


def _surveys(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write the tasks, and why the other surveys are no tasks."""
    wanted = plan.config.references
    with _opened(plan, steps) as connection:
        counted = _COUNTED.format(
            documents=literal(steps.directory / DOCUMENTS),
            references=literal(steps.directory / LISTED),
            min_listed=wanted.min_listed,
            min_available=wanted.min_available,
        )
        execute(connection, counted)
        columns = "id, title, fate, total AS n_references_total, in_corpus, gold AS available"
        copy(connection, f"SELECT {columns} FROM counted", steps.directory / COVERAGE, "id")
        columns = "id, title, title_key, day, precision, total AS n_references_total"
        kept = f"SELECT {columns} FROM counted WHERE fate = 'kept'"
        copy(connection, kept, steps.directory / TASKS, "id")
        by_fate = "SELECT fate, count(*) FROM counted GROUP BY 1 ORDER BY 1"
        fates = dict(rows(connection, by_fate))
        left = fates.pop("kept", 0)
        if left < wanted.min_tasks:
            reasons = ", ".join(f"{number:,} {why}" for why, number in fates.items())
            raise DataError(
                f"{left or 'no'} survey can be a task: {reasons or 'there is none'}. See the stage "
                "`surveys` and the key `references` of the configuration; "
                "references.min_tasks=0 makes a corpus without tasks."
            )
        coverage = (
            "SELECT round(in_corpus / total, 1) AS share, count(*) FROM counted "
            "WHERE fate = 'kept' AND total > 0 GROUP BY 1 ORDER BY 1"
        )
        return {
            "kept": left,
            "dropped": fates,
            "by_coverage": {f"{share:.1f}": n for share, n in rows(connection, coverage)},
        }


REFERENCES = Stage("references", _inputs, _run)


# `total`: all references that the survey has, from all sources; `in_corpus`: those of the
# coverage ratio (section 4); `gold`: those that an agent can find, see
# corpus_builder.content.
_COUNTED = """
CREATE TABLE counted AS
SELECT *, CASE WHEN day IS NULL THEN 'undated'
               WHEN total < {min_listed} THEN 'too few references'
               WHEN gold < {min_available} THEN 'too few references available'
               ELSE 'kept' END AS fate
FROM (SELECT s.id, any_value(s.title) AS title, any_value(s.title_key) AS title_key,
             any_value(s.day) AS day, any_value(s.precision) AS precision,
             greatest(count(r.cited), any_value(coalesce(s.n_references, 0)),
                      any_value(coalesce(s.listed, 0)))::BIGINT AS total,
             count(d.id) AS in_corpus,
             count(*) FILTER (d.searchable AND d.day < s.day) AS gold
      FROM staged_surveys s
      LEFT JOIN read_parquet({references}) r ON r.citing = s.id
      LEFT JOIN read_parquet({documents}) d ON d.id = r.cited
      GROUP BY s.id)
"""


@contextmanager
def _opened(plan: Plan, steps: Steps) -> Iterator[duckdb.DuckDBPyConnection]:
    resources = plan.resources
    with connected(steps.scratch(), resources.database, resources.threads) as connection:
        view_papers(plan, connection)
        yield connection


def view_papers(
    plan: Plan,
    connection: duckdb.DuckDBPyConnection,
    papers: str = "staged_papers",
    surveys: str = "staged_surveys",
) -> None:
    """Create views of the corpus' papers and selected surveys, as `create_documents` needs them."""
    names = {
        "papers": papers,
        "surveys": surveys,
        "corpus": literal(plan.stage(PARSE.name) / CORPUS),
        "candidates": literal(plan.stage(SURVEYS.name) / CANDIDATES),
    }
    connection.execute(_PAPERS.format(**names))
    connection.execute(_SURVEYS.format(**names))
