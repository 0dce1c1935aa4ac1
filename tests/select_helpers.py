"""A build whose stage ``parse`` is done, of papers that a test gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arena.executors import EXECUTORS
from corpus_builder.release import TABLES, RecordLimits
from corpus_builder.stages import Config, Plan, Steps
from corpus_builder.stages.mind_maps import MIND_MAPS
from corpus_builder.stages.reading import CORPUS, OTHER_TITLES, SHARDS
from corpus_builder.stages.surveys import SURVEYS


def rows_of(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows of a table of a release; what is not told is null."""
    schema = TABLES[table]
    return pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in rows], schema=schema)


def parsed(
    output: Path, papers: list[dict[str, Any]], config: Config | None = None, shards: int = 2
) -> Plan:
    """Write what ``parse`` leaves of papers with id, title, abstract?, text_abstract?, is_survey?.

    Paper n stands in line n of one of the shards, by turns.
    """
    work = output.with_name(f"{output.name}.stages") / "parse"
    for shard in range(shards):
        mine = [
            paper | {"file": f"papers/{shard}", "line": number}
            for number, paper in enumerate(papers, 1)
            if number % shards == shard
        ]
        place = work / SHARDS / "papers" / f"{shard}.gz"
        place.mkdir(parents=True)
        keys = ("id", "title", "is_survey", "file", "line")
        kept = [{k: paper.get(k) for k in keys} for paper in mine]
        pq.write_table(rows_of("papers", kept), place / "papers.parquet")
        for table, key in (("abstracts", "abstract"), ("texts", "text_abstract")):
            told = [
                {"id": p["id"], "abstract": p[key], "file": p["file"], "line": p["line"]}
                for p in mine
                if key in p
            ]
            if told:
                pq.write_table(rows_of(table, told), place / f"{table}.parquet")
    columns = [pa.field(n, pa.string()) for n in ("id", "title")]
    columns.append(pa.field("is_survey", pa.bool_()))
    ordered = sorted(papers, key=lambda paper: paper["id"].encode())
    narrow = [{"id": p["id"], "title": p["title"], "is_survey": p.get("is_survey", False)}
              for p in {p["id"]: p for p in reversed(ordered)}.values()]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(narrow, schema=pa.schema(columns)), work / CORPUS)
    names = pa.schema([(name, pa.string()) for name in ("id", "title", "title_key")])
    pq.write_table(names.empty_table(), work / OTHER_TITLES)
    executor = EXECUTORS.get("local")(1)
    return Plan("toy", None, output, config or Config(), 1 << 30, 2, executor, RecordLimits())  # type: ignore[arg-type]


def run_surveys(plan: Plan) -> dict[str, Any]:
    """Run the stage; return its report."""
    directory = plan.stage("surveys")
    directory.mkdir(parents=True, exist_ok=True)
    return SURVEYS.run(plan, Steps(directory))


def run_mind_maps(plan: Plan) -> dict[str, Any]:
    """Run the stage; return its report."""
    directory = plan.stage("mind-maps")
    directory.mkdir(parents=True, exist_ok=True)
    return MIND_MAPS.run(plan, Steps(directory))


def verdicts(plan: Plan) -> dict[str, str]:
    """Return the verdicts by id, in the order of the file."""
    rows = pq.read_table(plan.stage("surveys") / "candidates.parquet").to_pylist()
    assert all(list(row) == ["id", "title", "verdict"] for row in rows)
    return {row["id"]: row["verdict"] for row in rows}


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]
