"""The stage ``parse``: read every shard into tables, and list the papers of the corpus."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from arena.corpus import layout
from arena.errors import DataError
from arena.kit.terminal import progress
from arena.text.display import count
from arena.version import __version__
from corpus_builder.database import copy, execute, literal, rows, scalar
from corpus_builder.files import read_report
from corpus_builder.release import LISTED, REJECTS, REPORT, TABLES, Shard, ShardTask, parse_shard
from corpus_builder.stages.base import Plan, Stage, Steps

SHARDS = "shards"
CORPUS = "corpus.parquet"
"""One row a paper of the corpus-to-be: ``id, title, title_key, day, precision, is_survey,
first_day, first_precision, n_references, listed (entries of its bibliography, or null), file,
line``."""

OTHER_TITLES = "other-titles.parquet"
"""``id, title, title_key`` of records of a paper of the corpus that name it otherwise."""

_TWICE = "duplicate-ids.jsonl"
_WORST = 3  # number of reasons that a message names
_FEW = 20  # records; of fewer, a share means nothing


def _inputs(plan: Plan) -> Any:
    """Return the content of the files, represented by their sizes and times."""
    config = plan.config
    files = [[s.name, s.size, s.path.stat().st_mtime_ns] for s in plan.release.shards()]
    return [
        plan.release.describe(), list(plan.limits), files, config.full_text_only,
        config.max_rejected, config.allow_damaged,
    ]  # fmt: skip


def _run(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Read every shard that no earlier run has read; then list the papers of the corpus."""
    shards = plan.release.shards()
    reports = _read(plan, steps, shards)
    datasets = {
        dataset: _summary([reports[s.name] for s in shards if s.dataset == dataset])
        for dataset in sorted({shard.dataset for shard in shards})
    }
    parts = [steps.directory / SHARDS / shard.name / REJECTS for shard in shards]
    _join(parts, steps.directory / REJECTS)
    _check(plan, steps.directory, datasets, list(reports.values()))
    corpus = steps.once("corpus", lambda: _write_corpus(plan, steps))
    _join([*parts, steps.directory / _TWICE], steps.directory / REJECTS)
    for table in () if plan.release.repeats else TABLES:
        repeated = corpus["duplicate_ids"].get(table, 0)
        rows = sum(counts["rows"].get(table, 0) for counts in datasets.values())
        what = f"{repeated:,} of {rows:,} {table} have an id twice: a shard may be there twice, or "
        _limit(plan, steps.directory, repeated, rows, what + "another release mixed in")
    return {
        "datasets": datasets,
        "shards": {name: report["sha256"] for name, report in reports.items()},
        **corpus,
    }


def _read(plan: Plan, steps: Steps, shards: list[Shard]) -> dict[str, dict[str, Any]]:
    """Return the reports of all shards; read those that are new, changed, or read differently."""
    common = [
        __version__, layout.FORMAT_VERSION, plan.source, plan.release.describe(),
        list(plan.limits),
    ]  # fmt: skip
    reports: dict[str, dict[str, Any] | None] = {}
    tasks, places = [], set()
    for shard in shards:
        place = steps.directory / SHARDS / shard.name
        key = [*common, shard.size, shard.path.stat().st_mtime_ns]
        reports[shard.name] = read_report(place / REPORT, key)
        if reports[shard.name] is None:
            tasks.append(ShardTask(plan.release, shard, plan.limits, place, key))
        else:
            places.add(place)
    files = [path for path in (steps.directory / SHARDS).rglob("*") if path.is_file()]
    # The reports first: half of a directory must not pass for a complete one.
    for path in sorted(files, key=lambda path: path.name != REPORT):
        if path.parent not in places:
            path.unlink()
    for task in tasks:
        shutil.rmtree(task.directory, ignore_errors=True)
        task.directory.parent.mkdir(parents=True, exist_ok=True)
    # The largest first: a large one started last would run on alone.
    tasks.sort(key=lambda task: (-task.shard.size, task.shard.name))
    sizes = {shard.name: shard.size for shard in shards}
    total, left = sum(sizes.values()), sum(task.shard.size for task in tasks)
    with progress(total=total, initial=total - left, desc="read", unit="B", unit_scale=True) as bar:
        for report in plan.executor.run(parse_shard, tasks):
            reports[report["shard"]] = report
            bar.update(sizes[report["shard"]])
    return {name: report for name, report in sorted(reports.items()) if report is not None}


def _summary(reports: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {
        kind: sum((Counter(report[kind]) for report in reports), Counter[str]())
        for kind in ("rows", "rejected", "flaws", "skipped")
    }
    return {
        "shards": len(reports),
        "damaged": sum(report["damage"] is not None for report in reports),
        "lines": sum(report["lines"] for report in reports),
        **{kind: dict(sorted(of.items())) for kind, of in counts.items()},
    }


def _join(parts: Iterable[Path], whole: Path) -> None:
    new = whole.with_name(f".{whole.name}.new")
    with new.open("wb") as file:
        for part in parts:
            with part.open("rb") as opened:
                shutil.copyfileobj(opened, file)
    new.rename(whole)


def _check(
    plan: Plan, directory: Path, datasets: dict[str, Any], reports: list[dict[str, Any]]
) -> None:
    """Raise `DataError` if a shard is damaged, or too many records are rejected."""
    damaged = [report for report in reports if report["damage"] is not None]
    if damaged and not plan.config.allow_damaged:
        first = damaged[0]
        raise DataError(
            f"{len(damaged)} of {count(len(reports), 'shard')} are damaged, "
            f"{first['shard']!r} after line "
            f"{first['lines']} for one ({first['damage']}). Get them again, or set "
            "allow_damaged=true to continue with what can be read."
        )
    for dataset, counts in datasets.items():
        rejected, lines = sum(counts["rejected"].values()), counts["lines"]
        worst = sorted(counts["rejected"].items(), key=lambda item: (-item[1], item[0]))
        named = ", ".join(f"{reason} {number:,}" for reason, number in worst[:_WORST])
        what = f"{rejected:,} of {count(lines, 'record')} of {dataset!r} cannot be used: {named}"
        _limit(plan, directory, rejected, lines, what)


def _limit(plan: Plan, directory: Path, number: int, of: int, what: str) -> None:
    """Raise `DataError` if too large a share of records is bad."""
    if number > plan.config.max_rejected * max(of, _FEW):
        raise DataError(
            f"{what}. {str(directory / REJECTS)!r} lists them with shard and line. Repair them, "
            f"or raise max_rejected ({plan.config.max_rejected:g})."
        )


# Of several records of one paper, the first in the order of shards and lines counts, with their
# latest date, and as a survey if any is one: a paper that one record hides must stay hidden. As the
# cutoff of a task, the earliest date counts, for the same reason.
_CORPUS = """
CREATE TABLE corpus AS
SELECT id, title, title_key, last.day AS day, last.precision AS precision, a_survey AS is_survey,
       first.day AS first_day, first.precision AS first_precision, n_references, listed, file, line
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY file, line) AS nth,
             max({{'day': day, 'precision': precision}}) FILTER (day IS NOT NULL)
             OVER (PARTITION BY id) AS last,
             min({{'day': day, 'precision': precision}}) FILTER (day IS NOT NULL)
             OVER (PARTITION BY id) AS first,
             bool_or(is_survey) OVER (PARTITION BY id) AS a_survey
      FROM papers)
{join} (SELECT id, max(n_references) AS listed FROM ({texts}) GROUP BY id) USING (id)
WHERE nth = 1
"""
_OTHER_TITLES = """
SELECT DISTINCT p.id, p.title, p.title_key FROM papers p JOIN corpus c USING (id)
WHERE p.title <> c.title
"""
_REPEATED = """
CREATE OR REPLACE TABLE repeated AS SELECT file, line, id, same FROM
(SELECT file, line, id, row_number() OVER one AS nth, text = first_value(text) OVER one AS same
 FROM (SELECT file, line, id, {text} AS text FROM {table})
 WINDOW one AS (PARTITION BY id ORDER BY file, line))
WHERE nth > 1
"""
_FIRST = f"""
SELECT file, line, id FROM
(SELECT *, row_number() OVER (PARTITION BY file ORDER BY line) AS nth FROM repeated)
WHERE nth <= {LISTED} ORDER BY file, line
"""


def _write_corpus(plan: Plan, steps: Steps) -> dict[str, Any]:
    with steps.connect(plan) as connection:
        view_tables(connection, steps.directory / SHARDS)
        join, texts = "JOIN", "SELECT id, n_references FROM texts"
        if not plan.config.full_text_only:
            without = "SELECT citing, mentions FROM bibliography WHERE cited IS NULL"
            join, texts = "LEFT JOIN", f"{texts} UNION ALL {without}"
        execute(connection, _CORPUS.format(join=join, texts=texts))
        copy(connection, "SELECT * FROM corpus", steps.directory / CORPUS, "id")
        copy(connection, _OTHER_TITLES, steps.directory / OTHER_TITLES, "id, title, title_key")
        twice: dict[str, int] = {}
        with (steps.directory / _TWICE).open("w", encoding="ascii") as rejects:
            for table in ("papers", "abstracts", "texts"):
                text = "hash(abstract)" if table == "abstracts" else "NULL"
                execute(connection, _REPEATED.format(table=table, text=text))
                if same := scalar(connection, "SELECT count(*) FROM repeated WHERE same"):
                    twice["identical abstracts"] = same
                    execute(connection, "DELETE FROM repeated WHERE same")
                if number := scalar(connection, "SELECT count(*) FROM repeated"):
                    twice[table] = number
                for file, line, id_ in rows(connection, _FIRST):
                    entry = {"shard": file, "line": line, "reason": "duplicate id",
                             "detail": id_, "kept": False}  # fmt: skip
                    rejects.write(json.dumps(entry) + "\n")
        ids = scalar(connection, "SELECT count(DISTINCT id) FROM papers")
        papers = scalar(connection, "SELECT count(*) FROM corpus")
        if not papers:
            raise DataError(
                f"none of {count(ids, 'paper')} has full text, and full_text_only is true. Set "
                "full_text_only=false to take papers without, or add the full texts."
                if ids
                else "the release contains no papers."
            )
        return {
            "duplicate_ids": twice,
            "papers": papers,
            "without_full_text": ids - papers if plan.config.full_text_only else 0,
            "texts_without_paper": scalar(
                connection,
                "SELECT count(DISTINCT id) FROM texts WHERE id NOT IN (SELECT id FROM papers)",
            ),
        }


def view_tables(connection: duckdb.DuckDBPyConnection, shards: Path) -> None:
    """Create a view of each table of `TABLES` over all shards."""
    for table, schema in TABLES.items():
        files = sorted(shards.rglob(f"{table}.parquet"))
        columns = ", ".join(f'"{name}"' for name in schema.names)
        if files:
            names = ", ".join(literal(path) for path in files)
            query = f"SELECT {columns} FROM read_parquet([{names}])"
            connection.execute(f"CREATE VIEW {table} AS {query}")
        else:
            connection.register("nothing", schema.empty_table())
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM nothing")
            connection.unregister("nothing")


PARSE = Stage("parse", _inputs, _run, keeps=(SHARDS,))
