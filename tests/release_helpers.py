"""Shards with any content, and what became of them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from corpus_builder.release import RecordLimits, Release, ShardTask, parse_shard


class Outcome(NamedTuple):
    """A shard that was read: its report, rows by table without their place, and reject entries."""

    report: dict[str, Any]
    rows: dict[str, list[tuple[Any, ...]]]
    rejects: list[dict[str, Any]]


def as_bytes(line: Any) -> bytes:
    """Return a line: bytes as they are, anything else as JSON."""
    return line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"


def write_shard(path: Path, lines: Sequence[Any]) -> Path:
    """Write lines, compressed if the name ends so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(as_bytes(line) for line in lines)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def read_shard(
    release: Release, name: str, directory: Path, limits: RecordLimits | None = None
) -> Outcome:
    """Read one shard of a release into `directory`."""
    shard = next(shard for shard in release.shards() if shard.name == name)
    shutil.rmtree(directory, ignore_errors=True)  # what is there would stay
    report = parse_shard(ShardTask(release, shard, limits or RecordLimits(), directory))
    rows = {}
    for path in sorted(directory.glob("*.parquet")):
        table = pq.read_table(path)
        columns = [column for column in table.column_names if column not in ("file", "line")]
        rows[path.stem] = [tuple(row[c] for c in columns) for row in table.to_pylist()]
    with (directory / "rejects.jsonl").open(encoding="ascii") as file:
        return Outcome(report, rows, [json.loads(line) for line in file])


def paper(corpusid: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a record of the dataset ``papers``."""
    return {
        "corpusid": corpusid,
        "title": f"On Reefs {corpusid}",
        "authors": [{"authorId": "7", "name": "Ada Low"}],
        "venue": "",
        "journal": {"name": "Reefs", "volume": "3"},
        "year": 2018,
        "publicationdate": "2018-05-17",
        "publicationtypes": None,
        "referencecount": 4,
        "s2fieldsofstudy": [
            {"category": "Biology", "source": "s2-fos-model"},
            {"category": "Geology", "source": "external"},
            {"category": "Biology", "source": "external"},
        ],
        **changes,
    }


def citation(citing: Any = "1", cited: Any = "2", **changes: Any) -> dict[str, Any]:
    """Return a record of the dataset ``citations``."""
    return {
        "citingcorpusid": citing,
        "citedcorpusid": cited,
        "isinfluential": False,
        "contexts": None,
        **changes,
    }


def full_text(corpusid: int, text: str, version: int = 1, **annotations: Any) -> dict[str, Any]:
    """Return a record of the dataset ``s2orc`` or ``s2orc_v2``, with other names in version 2.

    Annotations have their names in the first version; each becomes a JSON string.
    """
    told = {
        name: None if value is None else json.dumps(value) for name, value in annotations.items()
    }
    if version == 1:
        return {"corpusid": corpusid, "content": {"source": {}, "text": text, "annotations": told}}
    renamed = {"sectionheader": "section_header", "bibref": "bib_ref"}
    entries = told.pop("bibentry", None)
    return {
        "corpusid": corpusid,
        "body": {"text": text, "annotations": {renamed.get(k, k): v for k, v in told.items()}},
        "bibliography": {"text": "[1] On Reefs.", "annotations": {"bib_entry": entries}},
    }
