"""Build a corpus directory from a source: its records checked, staged, ordered and written."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Set
from contextlib import contextmanager
from functools import partial
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb

from arena.corpus import layout
from arena.errors import CorpusError, DataError, clip
from arena.executors import Executor
from arena.kit.files import sha256_file, sha256_json, write_json
from arena.kit.workdir import other_files, staged_directory
from arena.text.identifiers import normal_title
from corpus_builder.content import DANGLING, LINKS, PROMPTS, Once, create_documents, write_content
from corpus_builder.database import connected, execute, literal, readable_errors, scalar
from corpus_builder.files import RowWriter, schema
from corpus_builder.index import check_fields, fields_of, make_plan, write_index
from corpus_builder.manifest import list_files
from corpus_builder.records import PAPER_KEYS, PLACEHOLDER, SURVEY_KEYS, parse_paper, parse_survey
from corpus_builder.sources import LocatedRecord, Source
from corpus_builder.sources.base import described
from corpus_builder.sources.matching import identifiers_of, paper_keys


def build(
    source: Source,
    output: str | Path,
    *,
    engines: tuple[str, ...] = ("bm25",),
    fields: tuple[str, ...] = ("title", "abstract", "fulltext"),
    overwrite: bool = False,
) -> dict[str, Any]:
    """Build a corpus from `source` into the directory `output`, with its indexes.

    The directory appears whole or not at all. The same records in any order give the same files
    and hashes; only ``source`` in the manifest names the files they come from. Memory stays
    bounded: texts pass through DuckDB's external sort.

    Args:
        source: Source of the records.
        output: Directory that does not exist yet, or is empty.
        engines: Names of the retrievers to build an index for; `corpus_builder.index.build_index`
            adds more later.
        fields: Indexed fields: ``title``, ``abstract``, ``fulltext``.
        overwrite: Replace a corpus in `output`; it stays until the new one is complete.

    Returns:
        The manifest.
    """
    output = Path(output)
    check_fields(fields)
    # Refuse bad arguments before any work.
    plans = [make_plan(engine, None, fields, None, "") for engine in engines]
    engines = tuple(dict.fromkeys(plan.engine for plan in plans))
    advice = (
        "Nothing half-built is left behind; free some disk space, fix the permissions, or name "
        "another directory."
    )
    with readable_errors(f"cannot write {str(output)!r}", advice):
        check_output(output, overwrite)
        check = partial(check_output, overwrite=overwrite)
        with staged_directory(output, check, manifest=layout.MANIFEST) as directory:
            return _build(source, directory, engines, fields)


def _build(
    source: Source, directory: Path, engines: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, Any]:
    staging = directory / "staging"
    staging.mkdir()
    unknown = stage(source, staging)
    with database(staging) as connection:
        dangling = scalar(connection, f"SELECT count(*) FROM ({DANGLING})")
        manifest = write_content(connection, directory, staging, dangling)
    if unknown:
        manifest["unknown_keys"] = unknown
    manifest["source"] = described(source)
    shutil.rmtree(staging)
    if keep := getattr(source, "keep", None):  # files that only the source reads again
        keep(directory)
    manifest["configuration"] = {"engines": list(engines), "fields": list(fields)}
    return finish(directory, manifest, engines, fields)


def finish(
    directory: Path,
    manifest: dict[str, Any],
    engines: tuple[str, ...],
    fields: tuple[str, ...] | None,
    executor: Executor | None = None,
    once: Once = lambda _, work: work(),
) -> dict[str, Any]:
    """Build the indexes of a corpus whose content is written, and complete its manifest.

    `once` runs a step, or returns its result from an earlier run.
    """

    def index(engine: str) -> str:
        own = fields_of(engine, fields)
        plan = make_plan(engine, None, own, None, manifest["content_sha256"])
        place = layout.index_directory(directory, engine)
        if not plan.kind.resumes:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        write_index(directory, place, plan, executor)
        return sha256_file(place / layout.MANIFEST)

    manifest["indexes"] = {e: once(f"index-{e}", partial(index, e)) for e in engines}
    manifest["files"] = once("files", lambda: list_files(directory, layout.INDEXES))
    manifest["manifest_sha256"] = sha256_json(manifest)
    # The last file: a directory without a manifest does not open.
    write_json(directory / layout.MANIFEST, manifest)
    return manifest


def check_output(output: Path, overwrite: bool) -> None:
    """Raise CorpusError unless a build may write `output`, or replace the corpus in it."""
    check_place(output, "corpus", _corpus_names(output), overwrite)


def check_place(output: Path, what: str, ours: Collection[str], overwrite: bool) -> None:
    """Raise CorpusError unless `output` may be written, or the `what` in it replaced.

    `ours` are the names of the files of such a thing in `output`; empty if there is none.
    """
    if not output.exists():
        return
    if not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    others = other_files(output, map(escape, ours))
    if ours and not overwrite:
        raise CorpusError(
            f"{str(output)!r} already contains a {what}. Pass --overwrite to replace it."
        )
    if others:  # never delete what is not ours
        raise CorpusError(
            f"{str(output)!r} contains other files, {clip(others[0])} for one. "
            "Name a new or empty directory."
        )


def _corpus_names(directory: Path) -> set[str]:
    """Return the top-level names of the corpus in `directory`, or an empty set."""
    try:
        manifest = json.loads((directory / layout.MANIFEST).read_bytes())
        if "content_sha256" not in manifest:
            return set()
        return {
            layout.MANIFEST,
            layout.INDEXES,
            layout.DIGESTS,
            layout.CARD,
            f".{layout.CARD}.building",
            f".{layout.CARD}.building.lock",
            *(PurePosixPath(name).parts[0] for name in manifest["files"]),
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return set()


PAPERS = schema(
    "id title title_key abstract day:int32 precision is_survey:bool venue authors:texts "
    "fields:texts arxiv_id doi sections:sections file line:int64"
)
SURVEYS = schema(
    "id title title_key day:int32 precision n_references_total:int64 mind_map arxiv_id doi "
    "prompts:prompts domain cluster survey_citations:int64 figure caption outline article "
    "listed_titles:texts file line:int64",
    prompts=PROMPTS,
)
REFERENCES = schema("citing cited influential:bool")


def stage(source: Source, directory: Path) -> dict[str, dict[str, int]]:
    """Write ``papers``, ``surveys`` and their references as Parquet into `directory`.

    Returns:
        ``papers`` and ``surveys``, where there are any, mapped to keys that nothing reads and the
        number of their records.
    """
    unknown: dict[str, Counter[str]] = {"papers": Counter(), "surveys": Counter()}
    with (
        RowWriter(directory / "papers.parquet", PAPERS) as papers,
        RowWriter(directory / "references.parquet", REFERENCES) as references,
    ):
        for place, paper in _parsed(source.papers(), parse_paper, PAPER_KEYS, unknown["papers"]):
            undated = None if place.record.get("date") is None else PLACEHOLDER
            day, precision = paper.date or (None, undated)
            sections = [{"heading": heading, "text": text} for heading, text in paper.sections]
            papers.add(
                (paper.id, paper.title, normal_title(paper.title), paper.abstract, day, precision,
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
                (survey.id, survey.title, normal_title(survey.title), survey.date.day,
                 survey.date.precision, survey.n_references_total, survey.mind_map,
                 *identifiers_of(paper_keys(place.record)), survey.prompts or None, survey.domain,
                 survey.cluster, survey.survey_citations, survey.figure, survey.caption,
                 survey.outline, survey.article, survey.listed_titles, place.file, place.line)
            )  # fmt: skip
            for reference in survey.references:
                references.add((survey.id, *reference))
    if not papers.count:
        raise DataError("the source contains no papers. Give at least one.")
    return {what: dict(sorted(keys.items())) for what, keys in unknown.items() if keys}


def _parsed(
    records: Iterator[LocatedRecord], parse: Any, known: Set[str], unknown: Counter[str]
) -> Iterator[tuple[LocatedRecord, Any]]:
    for place in records:
        try:
            yield place, parse(place.record)
        except DataError as error:
            raise DataError(f"{place.file} line {place.line}: {error}") from None
        unknown.update(place.record.keys() - known)


_MEMORY_LIMIT = 1_000_000_000

_STAGED = ("papers", "surveys", "references", "survey_references")

# Of a release these come from other files than the papers, see corpus_builder.stages.corpus.
_PARTS = """
CREATE VIEW staged_abstracts AS
SELECT id, abstract, 0 AS rank, file, line FROM staged_papers WHERE abstract <> '';
CREATE VIEW staged_texts AS
SELECT id, sections, file, line FROM staged_papers WHERE len(sections) > 0;
"""


@contextmanager
def database(staging: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database over the staged files, with the tables ``documents`` and ``links``."""
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
