"""Tasks of ordinary papers: every paper that cites enough of a corpus is a small survey."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import pyarrow as pa
from annotated_types import Ge

from arena.corpus import Corpus, layout
from arena.dates import format_day, parse_cutoff, parse_date
from arena.errors import CorpusError, DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_json, write_json
from arena.kit.options import checked
from arena.kit.process import cores
from arena.kit.workdir import OutputKind, read_manifest_of, staged_directory
from arena.tasks import TaskSet, choose_topics, play_order
from arena.text.display import count
from arena.text.identifiers import work_key
from corpus_builder.content import write_tasks
from corpus_builder.database import connected, execute, literal, readable_errors, rows, scalar
from corpus_builder.manifest import list_files

_MEMORY = 1_000_000_000
_KIND = OutputKind("task set", layout.MANIFEST, {"tasks_sha256": str, "options": dict})

DOCUMENTS = """
CREATE TABLE documents AS
SELECT file_row_number::INTEGER AS document, id, (date - DATE '1970-01-01')::INTEGER AS day,
       is_survey AS survey
FROM read_parquet({papers}, file_row_number = true)
"""
# Links are between searchable papers alone.
_CANDIDATES = """
SELECT a.document, a.id, title FROM read_parquet({references}) r
JOIN documents a ON a.document = r.document JOIN documents b ON b.document = r.cited
JOIN read_parquet({papers}) p ON p.id = a.id
WHERE b.day < a.day AND a.day < {end}
GROUP BY ALL HAVING count(*) >= {least} ORDER BY a.document
"""
# What `write_tasks` reads of the surveys of a source.
_STAGED = """
CREATE TABLE staged_survey_references AS
SELECT a.id AS citing, b.id AS cited, r.influential
FROM read_parquet({references}) r JOIN chosen c ON c.document = r.document
JOIN documents a ON a.document = r.document JOIN documents b ON b.document = r.cited;
CREATE TABLE staged_surveys AS
SELECT d.id, title, d.day, date_precision AS precision, n AS n_references_total, arxiv_id, doi,
       NULL AS mind_map, NULL AS figure, NULL AS caption, NULL AS prompts, NULL AS domain,
       NULL AS cluster, NULL AS survey_citations, NULL AS outline, NULL AS article
FROM chosen JOIN documents d USING (document) JOIN read_parquet({papers}) p USING (id)
JOIN (SELECT citing, count(*) AS n FROM staged_survey_references GROUP BY citing) ON citing = d.id
"""


@checked
def write_paper_tasks(
    directory: str | Path,
    output: str | Path,
    *,
    least: Annotated[int, Ge(1)] = 10,
    max_tasks: Annotated[int, Ge(1)] | None = None,
    seed: Annotated[int, Ge(0)] = 0,
    test: Sequence[str] | int | None = None,
    before: str | dt.date | None = None,
    horizon: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write tasks of the papers of a corpus that cite at least `least` papers in reach.

    The gold of a task is what its paper cites: gain 2 where the source marks the citation as
    influential, else 1. All tasks are for training: they are dated before the first test survey,
    and none is a survey. A paper that shares its title with another one of the corpus is left out,
    since the other may be the same work. The same corpus and options give the same bytes.

    The options are those of ``arena-corpus tasks --help``; `before` is by default the day of the
    first test survey. The corpus does not change, and `output` is outside of it.

    Returns:
        The manifest, whose ``counts`` are ``candidates`` (papers that cite enough before the day),
        ``same_title`` (those left out for their title), ``tasks``, ``labels`` (references in
        reach) and ``influential`` (those of gain 2).
    """
    root = Path(os.path.realpath(directory))
    corpus = Corpus.open(root)
    end, named = _end(corpus, test, before)
    options = {
        "least": least,
        "max_tasks": max_tasks,
        "seed": seed,
        "test": named,
        "before": format_day(end),
        **({"horizon": True} if horizon else {}),
    }
    wanted = {"corpus": corpus.sha256, "options": options, "code": code_sha256(__name__)}
    write = partial(
        _write, root=root, end=end, least=least, max_tasks=max_tasks, seed=seed, horizon=horizon
    )
    return make_task_set(root, Path(output), wanted, write, overwrite)


def make_task_set(
    root: Path,
    output: Path,
    wanted: dict[str, Any],
    write: Callable[[duckdb.DuckDBPyConnection, Path], tuple[str, dict[str, int]]],
    overwrite: bool,
) -> dict[str, Any]:
    """Let `write` write tasks into `output`, whole or not at all, and return the manifest.

    `write` takes an empty database and a directory, and returns the hash of the tasks and counts.
    `wanted` identifies the input: the hash of the corpus, ``options``, the code.
    """

    def check(place: Path) -> None:
        if place.is_relative_to(root):
            raise CorpusError(f"{str(output)!r} is inside the corpus. Name a directory elsewhere.")
        if place.exists() and not (overwrite and read_manifest_of(place, _KIND)):
            raise CorpusError(
                f"{str(output)!r} exists. Name a new directory, or pass --overwrite to replace a "
                "task set."
            )

    with (
        readable_errors(
            f"cannot write {str(output)!r}", "Free some disk space, or write elsewhere."
        ),
        staged_directory(output, check, manifest=layout.MANIFEST) as new,
        tempfile.TemporaryDirectory(prefix="arena-tasks-") as scratch,
        connected(Path(scratch), _MEMORY, cores()) as connection,
    ):
        tasks_sha256, counts = write(connection, new)
        manifest = {
            "format_version": layout.PART_VERSION,
            **wanted,
            "tasks_sha256": tasks_sha256,
            "counts": counts,
            "files": list_files(new),
        }
        manifest["manifest_sha256"] = sha256_json(manifest)
        write_json(new / layout.MANIFEST, manifest, sort_keys=False)  # counts keep their order
    return manifest


def _end(
    corpus: Corpus, test: Sequence[str] | int | None, before: str | dt.date | None
) -> tuple[int, list[str] | None]:
    """Return the day before which tasks are dated, and the test surveys that were named."""
    wanted = None if before is None else parse_cutoff(before).day
    if not corpus.manifest["counts"]["surveys"] and test is None:
        return parse_date("9999").day if wanted is None else wanted, None
    tasks = TaskSet(corpus)
    chosen = choose_topics(tasks, test)
    first = tasks.topic(play_order(tasks, chosen)[0])
    end = parse_date(first.date).day
    if wanted is not None and wanted > end:
        raise DataError(
            f"before={clip(str(before))} is after the first test survey, {first.id!r} of "
            f"{first.date}. Give an earlier day, or name later surveys with --test."
        )
    return end if wanted is None else wanted, None if test is None else chosen


def _write(
    connection: duckdb.DuckDBPyConnection,
    new: Path,
    root: Path,
    end: int,
    least: int,
    max_tasks: int | None,
    seed: int,
    horizon: bool,
) -> tuple[str, dict[str, int]]:
    """Write the tasks of the corpus in `root` into `new`; return their hash and ``counts``."""
    papers, references = (literal(root / path) for path in (layout.PAPERS, layout.REFERENCES))
    files = {"papers": papers, "references": references}
    execute(connection, DOCUMENTS.format(**files))
    query = _CANDIDATES.format(least=least, end=end, **files)
    candidates, drawn = _draw(connection, query, papers, seed)
    chosen = drawn[:max_tasks]
    if not chosen:
        until = f"before {format_day(end)} " if end < parse_date("9999").day else ""
        raise DataError(
            f"no paper {until}cites {count(least, 'paper')} in reach and has a title of "
            "its own. Lower --least, name later --test surveys, or build a larger corpus."
        )
    connection.register("drawn", pa.table({"document": pa.array(chosen, pa.int32())}))
    connection.execute("CREATE TABLE chosen AS SELECT * FROM drawn")
    execute(connection, _STAGED.format(**files))
    if horizon:
        stage_triples(connection)
    tasks_sha256, written = write_tasks(connection, new)
    marked = f"read_parquet({literal(new / layout.GOLD)}) WHERE status = 'gold' AND influential"
    return tasks_sha256, {
        "candidates": candidates,
        "same_title": candidates - len(drawn),
        "tasks": written["surveys"],
        "labels": written["survey_references_gold"],
        "influential": scalar(connection, f"SELECT count(*) FROM {marked}"),
    }


def _draw(
    connection: duckdb.DuckDBPyConnection, query: str, papers: str, seed: int
) -> tuple[int, list[int]]:
    """Return how many candidates there are, and those with a title of their own in drawn order."""
    found = {number: (name, work_key(title)) for number, name, title in rows(connection, query)}
    keys = {key for _, key in found.values()}
    titles = rows(connection, f"SELECT title FROM read_parquet({papers})")
    times = Counter(key for (title,) in titles if (key := work_key(title)) in keys)
    kept = [document for document, (_, key) in found.items() if key and times[key] == 1]
    draw = {d: hashlib.sha256(f"{seed} {found[d][0]}".encode()).hexdigest() for d in kept}
    return len(found), sorted(kept, key=draw.__getitem__)


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
