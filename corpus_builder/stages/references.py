"""The stage ``references``: document order, links, tasks (paper, section 3.2)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from arena.errors import DataError
from arena.kit.terminal import progress
from arena.kit.workdir import atomic_directory
from corpus_builder.content import DANGLING, LINKS, create_documents
from corpus_builder.database import connected, copy, execute, literal, rows, scalar
from corpus_builder.files import read_report, write_report
from corpus_builder.release import REPORT
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.reading import CORPUS, OTHER_TITLES, PARSE, SHARDS, view_tables
from corpus_builder.stages.surveys import CANDIDATES, SURVEYS

LINKED = "links.parquet"
"""One row a link between searchable papers, ordered by both ends."""
LISTED = "survey_references.parquet"
"""One row a reference of a survey: ``citing, cited, influential``."""
UNKNOWN = "unknown.parquet"
"""The rows of `DANGLING`, of one shard."""


class LinkTask(NamedTuple):
    """One shard whose references are linked, into a directory that appears when complete."""

    name: str
    tables: Path
    documents: Path
    surveys: Path
    mentions: int | None
    directory: Path
    memory: int


def link_shard(task: LinkTask) -> None:
    """Write `LINKED`, `LISTED` and `UNKNOWN` of one shard."""
    influential = "false" if task.mentions is None else f"mentions >= {task.mentions}"
    with atomic_directory(task.directory) as new:
        with connected(new / "spill", task.memory, 1) as connection:
            view_tables(connection, task.tables)
            connection.execute(
                f"CREATE VIEW documents AS FROM read_parquet({literal(task.documents)});"
                "CREATE VIEW staged_references AS SELECT citing, cited, influential FROM citations "
                f"UNION ALL SELECT citing, cited, {influential} FROM bibliography"
            )
            copy(connection, LINKS, new / LINKED, "citing, cited")
            listed = (
                "SELECT citing, cited, bool_or(influential) AS influential FROM staged_references "
                f"SEMI JOIN read_parquet({literal(task.surveys)}) s ON citing = s.id "
                "WHERE citing <> cited GROUP BY ALL"
            )
            copy(connection, listed, new / LISTED, "citing, cited")
            copy(connection, DANGLING, new / UNKNOWN, "pair")
        shutil.rmtree(new / "spill", ignore_errors=True)
        write_report(new / REPORT, task.name, True)


DOCUMENTS = "documents.parquet"
"""One row a paper in document order: ``document, id, day, survey, searchable``."""
TASKS = "surveys.parquet"
"""One row a survey task: ``id, title, title_key, day, precision, n_references_total``."""

COVERAGE = "coverage.parquet"
"""One row a selected survey: ``id, title, fate`` (``kept``, or why it is not a task),
``n_references_total, in_corpus`` (of them), ``available`` (of those, to an agent)."""

_IDS = "ids.parquet"  # of all surveys

# A paper that may be a survey is hidden, also where there is no judgement, and one that any record
# calls like a survey.
_VIEWS = """
CREATE VIEW {surveys} AS
SELECT c.id, c.title, c.title_key, c.first_day AS day, c.first_precision AS precision,
       c.n_references, c.listed
FROM read_parquet({corpus}) c JOIN read_parquet({candidates}) k USING (id)
WHERE k.verdict = 'survey';
CREATE VIEW {papers} AS
SELECT c.* REPLACE (c.is_survey OR coalesce(k.verdict <> 'other', false) OR id IN (
  SELECT o.id FROM read_parquet({others}) o JOIN {surveys} s USING (title_key)
  WHERE o.title_key <> '') AS is_survey)
FROM read_parquet({corpus}) c LEFT JOIN read_parquet({candidates}) k USING (id);
"""


def _inputs(plan: Plan) -> Any:
    """Return the section ``references`` of the configuration."""
    return [*plan.config.references.model_dump().values(), UNKNOWN]


def _run(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write documents, links, surveys and their references."""
    documents = steps.once("documents", lambda: _documents(plan, steps))
    links = steps.once("links", lambda: _link(plan, steps))
    tasks = steps.once("surveys", lambda: _surveys(plan, steps))
    return {**documents, **links, "surveys": tasks}


def _documents(plan: Plan, steps: Steps) -> dict[str, Any]:
    with steps.connect(plan) as connection:
        view_papers(plan, connection)
        create_documents(connection)
        copy(connection, "SELECT * FROM documents", steps.directory / DOCUMENTS, "document")
        copy(connection, "SELECT id FROM staged_surveys", steps.directory / _IDS, "id")
        kinds = {"papers": "true", "searchable": "searchable", "undated": "day IS NULL",
                 "hidden_surveys": "survey"}  # fmt: skip
        return {
            name: scalar(connection, f"SELECT count(*) FROM documents WHERE {kind}")
            for name, kind in kinds.items()
        }


def _link(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Link the references of each shard, then merge: several may have those of one paper."""
    parsed, tasks, places = plan.stage(PARSE.name) / SHARDS, [], []
    for shard in plan.release.shards():
        tables, place = parsed / shard.name, steps.directory / SHARDS / shard.name
        if not any((tables / f"{name}.parquet").exists() for name in ("citations", "bibliography")):
            continue
        places.append(place)
        if read_report(place / REPORT, shard.name) is None:
            shutil.rmtree(place, ignore_errors=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            tasks.append(
                LinkTask(
                    shard.name, tables, steps.directory / DOCUMENTS, steps.directory / _IDS,
                    plan.config.references.influential_mentions, place, plan.each,
                )
            )  # fmt: skip
    with progress(total=len(tasks), desc="link", unit="shard") as bar:
        for _ in plan.executor.run(link_shard, tasks):
            bar.update()

    def merged(name: str, kind: str) -> str:
        files = ", ".join(literal(place / name) for place in places)
        one = (
            f"SELECT NULL::{kind} AS citing, NULL::{kind} AS cited, false AS influential, 0 AS pair"
        )
        return f"FROM read_parquet([{files}])" if files else f"{one} WHERE false"

    with steps.connect(plan) as connection:
        for name, kind in ((LINKED, "INTEGER"), (LISTED, "VARCHAR")):
            grouped = "SELECT citing, cited, bool_or(influential) AS influential"
            query = f"{grouped} FROM ({merged(name, kind)}) GROUP BY ALL"
            copy(connection, query, steps.directory / name, "citing, cited")
        linked = literal(steps.directory / LINKED)
        links = scalar(connection, f"SELECT count(*) FROM read_parquet({linked})")
        pairs = f"SELECT DISTINCT pair FROM ({merged(UNKNOWN, 'VARCHAR')})"
        dangling = scalar(connection, f"SELECT count(*) FROM ({pairs})")
    shutil.rmtree(steps.directory / SHARDS, ignore_errors=True)
    return {"links": links, "dangling_references": dangling}


def _surveys(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write the tasks, and why the other surveys are no tasks."""
    wanted = plan.config.references
    with steps.connect(plan) as connection:
        view_papers(plan, connection)
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
        fates = dict(rows(connection, "SELECT fate, count(*) FROM counted GROUP BY 1 ORDER BY 1"))
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


# `extracted`: references that links or an own bibliography name; `total`: all that the survey has
# by any source, so also by the release's mere count; `in_corpus`: those of the
# coverage ratio (section 4); `gold`: those that an agent can find, see
# corpus_builder.content.
_COUNTED = """
CREATE TABLE counted AS
SELECT *, CASE WHEN day IS NULL THEN 'undated'
               WHEN extracted = 0 AND total > 0 AND {min_listed} > 0 THEN 'failed extraction'
               WHEN total < {min_listed} THEN 'too few references'
               WHEN gold < {min_available} THEN 'too few references available'
               ELSE 'kept' END AS fate
FROM (SELECT s.id, any_value(s.title) AS title, any_value(s.title_key) AS title_key,
             any_value(s.day) AS day, any_value(s.precision) AS precision,
             greatest(count(r.cited), any_value(coalesce(s.listed, 0)))::BIGINT AS extracted,
             greatest(count(r.cited), any_value(coalesce(s.n_references, 0)),
                      any_value(coalesce(s.listed, 0)))::BIGINT AS total,
             count(d.id) AS in_corpus,
             count(*) FILTER (d.searchable AND d.day < s.day) AS gold
      FROM staged_surveys s
      LEFT JOIN read_parquet({references}) r ON r.citing = s.id
      LEFT JOIN read_parquet({documents}) d ON d.id = r.cited
      GROUP BY s.id)
"""


def view_papers(
    plan: Plan,
    connection: duckdb.DuckDBPyConnection,
    papers: str = "staged_papers",
    surveys: str = "staged_surveys",
) -> None:
    """Create views of the corpus' papers and selected surveys, as `create_documents` needs them."""
    parse = plan.stage(PARSE.name)
    files = {
        "corpus": literal(parse / CORPUS),
        "others": literal(parse / OTHER_TITLES),
        "candidates": literal(plan.stage(SURVEYS.name) / CANDIDATES),
    }
    connection.execute(_VIEWS.format(papers=papers, surveys=surveys, **files))
