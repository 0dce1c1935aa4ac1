"""The stages ``index`` and ``card``: the corpus in its own format, with indexes and card."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb

from arena.corpus import layout
from arena.errors import ArenaError, DataError
from arena.kit.files import sha256_file, write_json
from arena.kit.workdir import REPLACED, publish, sync
from arena.tasks import PROMPT_LEVELS
from corpus_builder.build import check_output, finish
from corpus_builder.content import write_content
from corpus_builder.database import connected, literal
from corpus_builder.index import fields_of, make_plan
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.mind_maps import MAPS, MIND_MAPS
from corpus_builder.stages.reading import PARSE, SHARDS, view_tables
from corpus_builder.stages.references import (
    DOCUMENTS,
    LINKED,
    LISTED,
    REFERENCES,
    TASKS,
    view_papers,
)
from corpus_builder.stages.surveys import SURVEYS

OURS = "ours.json"
"""Content and tasks of the corpora that this build has put, or was about to put, into the output.
No other is replaced; it outlives the stage's other files."""

_DESCRIBED = (PARSE.name, SURVEYS.name, REFERENCES.name, MIND_MAPS.name)

_PROMPTS = f"STRUCT({', '.join(f'{level} VARCHAR' for level in PROMPT_LEVELS)})"

# Of several records of one paper, the record and the date that the stage `parse` took.
_VIEWS = """
CREATE VIEW documents AS SELECT * FROM read_parquet({documents});
CREATE VIEW links AS SELECT * FROM read_parquet({links});
CREATE VIEW staged_papers AS
SELECT p.id, p.title, c.day, c.precision, p.venue, p.authors, p.fields, c.is_survey,
       p.arxiv_id, p.doi, p.citations
FROM papers p JOIN flagged c USING (id, file, line);
CREATE VIEW staged_abstracts AS
SELECT id, abstract, 0 AS rank, file, line FROM abstracts WHERE abstract <> ''
UNION ALL SELECT id, abstract, 1, file, line FROM texts WHERE abstract <> '';
CREATE VIEW staged_texts AS SELECT id, sections, file, line FROM texts;
CREATE VIEW staged_surveys AS
SELECT s.id, s.title, s.day, s.precision, s.n_references_total, m.mind_map, m.figure, m.caption,
       p.arxiv_id, p.doi, w.prompts, w.domain, NULL AS cluster, p.citations AS survey_citations,
       NULL AS outline, NULL AS article, NULL AS listed_titles
FROM read_parquet({tasks}) s LEFT JOIN read_parquet({maps}) m ON m.survey = s.id
LEFT JOIN staged_papers p USING (id) LEFT JOIN ({written}) w USING (id);
CREATE VIEW staged_survey_references AS
SELECT * FROM read_parquet({listed}) WHERE citing IN (SELECT id FROM read_parquet({tasks}));
"""


def _index_inputs(plan: Plan) -> Any:
    """Return engines and fields; check them, since much work comes before this stage."""
    index = plan.config.index
    fields = {each: list(fields_of(each, index.fields)) for each in index.engines}
    for engine in index.engines:
        make_plan(engine, None, fields[engine], None, "")
    return [fields, _prompts_sha256(plan)]


def _prompts_sha256(plan: Plan) -> str | None:
    path = plan.config.prompts
    if path is not None and not path.is_file():
        raise DataError(
            f"prompts={str(path)!r} is not a file. Write it with `arena-corpus prompts`."
        )
    return None if path is None else sha256_file(path)


def _run_index(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write the corpus and its indexes, and move it to the output."""
    new, done = steps.directory / "corpus", steps.done.get("manifest")
    if done and done not in (_manifest(plan.output), _manifest(new)):
        steps.forget()  # a killed run had put the corpus into the output; it is no longer there
        shutil.rmtree(new, ignore_errors=True)
    new.mkdir(exist_ok=True)
    manifest = steps.once("manifest", lambda: _write(plan, steps, new))
    identity = _identity(manifest)
    if manifest != _manifest(plan.output):
        sync(new)
        # Another may have come there in the hours since the build began.
        check_output(plan.output, plan.overwrite or is_ours(plan))
        known = [entry for entry in _ours(steps.directory) if entry != identity]
        write_json(steps.directory / OURS, [*known, identity])
        publish(new, plan.output)
    for left in (new, new.with_name(REPLACED)):
        shutil.rmtree(left, ignore_errors=True)
    write_json(steps.directory / OURS, [identity])
    return {key: manifest[key] for key in ("content_sha256", "tasks_sha256", "counts")}


def _write(plan: Plan, steps: Steps, new: Path) -> dict[str, Any]:
    """Write all files of the corpus; return its manifest."""
    manifest = dict(steps.once("content", lambda: _content(plan, steps, new)))
    manifest["source"] = {
        "source": plan.source,
        **plan.release.describe(),
        "stages": {name: steps.reports[name] for name in _DESCRIBED},
    }
    if (sha256 := _prompts_sha256(plan)) is not None:
        manifest["source"]["prompts"] = {"sha256": sha256}
    index = plan.config.index
    manifest["configuration"] = index.model_dump(mode="json")
    return finish(new, manifest, index.engines, index.fields, plan.executor, steps.once)


def is_ours(plan: Plan) -> bool:
    """Return whether the output is a corpus that this build has written."""
    return _identity(_manifest(plan.output)) in _ours(plan.stage(INDEX.name))


def is_intact(plan: Plan, report: dict[str, Any]) -> bool:
    """Return whether the output still is the corpus that this stage made."""
    return _identity(_manifest(plan.output)) == _identity(report)


def _manifest(corpus: Path) -> dict[str, Any]:
    try:
        return layout.read_manifest(corpus)
    except ArenaError:
        return {}


def _identity(manifest: dict[str, Any]) -> list[str | None]:
    return [manifest.get("content_sha256"), manifest.get("tasks_sha256")]


def _ours(directory: Path) -> list[list[str | None]]:
    try:
        return list(json.loads((directory / OURS).read_bytes()))
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _content(plan: Plan, steps: Steps, new: Path) -> dict[str, Any]:
    scratch = steps.scratch()
    dangling = steps.reports[REFERENCES.name]["dangling_references"]
    with connected(scratch / "spill", plan.database, plan.threads) as connection:
        _create_views(plan, connection)
        return write_content(connection, new, scratch, dangling, steps.once)


def _create_views(plan: Plan, connection: duckdb.DuckDBPyConnection) -> None:
    linked = plan.stage(REFERENCES.name)
    view_tables(connection, plan.stage(PARSE.name) / SHARDS)
    view_papers(plan, connection, "flagged", "selected")
    files = {
        "documents": linked / DOCUMENTS,
        "links": linked / LINKED,
        "tasks": linked / TASKS,
        "listed": linked / LISTED,
        "maps": plan.stage(MIND_MAPS.name) / MAPS,
    }
    written = f"SELECT NULL AS id, NULL::{_PROMPTS} AS prompts, NULL::VARCHAR AS domain WHERE false"
    if path := plan.config.prompts:
        columns = f"{{id: 'VARCHAR', prompts: '{_PROMPTS}', domain: 'VARCHAR'}}"
        written = f"FROM read_json({literal(path)}, format='newline_delimited', columns={columns})"
    places = {name: literal(path) for name, path in files.items()}
    connection.execute(_VIEWS.format(**places, written=written))


INDEX = Stage("index", _index_inputs, _run_index, keeps=(OURS,))


def _run_card(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write the card into the corpus; return its files."""
    from corpus_builder.card import write_card

    return write_card(plan.output, memory=plan.database, threads=plan.threads)


CARD = Stage("card", lambda plan: None, _run_card)
