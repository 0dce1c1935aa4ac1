"""Logs of inspect_ai as runs that `arena compare` takes; docs/integrations.md."""

from __future__ import annotations

import json
import math
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

from arena.errors import ArenaError, DataError
from arena.metrics import mean
from arena.plugins import recorded_name
from arena.results.comparison.opening import Opened, result_reader
from arena.runs.directory import OpenedRun
from arena.tasks import open_task

_ZSTANDARD = 93  # which zipfile reads from Python 3.14 on


class InspectLog(OpenedRun):
    """A finished log of a task of this project: a row of scores for each epoch, and no steps."""

    def __init__(self, path: Path) -> None:
        self.directory = path
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            spec = _member(archive, file, "header.json")["eval"]
            samples = _member(archive, file, "summaries.json")
        about, settings = spec.get("metadata") or {}, spec.get("task_args") or {}
        name = recorded_name(about.get("task") or spec["task"], path).removeprefix("arena/")
        self.task = open_task(name)
        self.rows: dict[str, list[dict[str, Any]]] = {}
        for sample in samples:
            values, of_topic = dict[str, Any](), dict(sample.get("metadata") or {})
            for scorer, score in (sample.get("scores") or {}).items():
                value = score["value"]
                values |= value if isinstance(value, dict) else {scorer: value}
                of_topic |= score.get("metadata") or {}
            row = {key: of_topic[key] for key in ("cluster", "domain") if of_topic.get(key)}
            row |= {n: v for n, v in values.items() if n in self.task.metrics and _is_number(v)}
            self.rows.setdefault(str(sample["id"]), []).append(row)
        model = spec.get("model")
        self.manifest = {
            "task": name, "agent": spec.get("solver") if model in (None, "none") else model,
            "agent_options": {}, "arena": "", "seed": about.get("seed", ""),
            "environment": {"retriever": settings.get("retriever", "unknown")},
            "sha256": about.get("sha256", {}), "encoder": about.get("encoder"),
            "definition": self.task.definition(), "topics": [*self.rows],
            "repeats": max(map(len, self.rows.values()), default=1),
        }  # fmt: skip

    def episodes(self, every: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what the log states of each episode."""
        for topic, rows in self.rows.items():
            for row in rows if every else rows[:1]:
                yield {"topic_id": topic, "steps": [], "answers": {}, "metrics": row}


@result_reader(".eval")
def read_inspect_log(path: Path) -> Opened:
    """A log of inspect_ai: the scores that it states.

    A topic's value is the mean over its epochs, and None where one has no score.

    Raises:
        DataError: The file is no finished log of a task, or has no scores by its metrics.
    """
    try:
        log = InspectLog(path)
    except ArenaError as error:
        raise DataError(f"{str(path)!r}: {error}") from None
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{str(path)!r} is no finished log of inspect_ai: {error}.") from error
    found = {name for rows in log.rows.values() for row in rows for name in row}
    names = sorted(found & {*log.task.metrics})
    if not names:
        raise DataError(f"{str(path)!r} has no score by a metric of the task {log.task.name}.")
    per_topic: dict[str, dict[str, Any]] = {}
    for topic, rows in sorted(log.rows.items()):
        per_topic[topic] = {**rows[0], "submitted": {}, "submitted_each": []}
        for name in names:
            whole = all(name in row for row in rows)
            per_topic[topic][name] = mean(row[name] for row in rows) if whole else None
    scored = sum(None not in map(row.get, names) for row in per_topic.values())
    means = {name: mean(row[name] for row in per_topic.values()) for name in names}
    counts = {"topics": len(per_topic), "scored": scored}
    return log, {"mean": means, "per_topic": per_topic, "ceiling": {}, "counts": counts}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _member(archive: zipfile.ZipFile, file: Any, name: str) -> Any:
    """Return the JSON in a file of an archive, which inspect itself compresses with Zstandard."""
    info = archive.getinfo(name)
    if info.compress_type != _ZSTANDARD:
        return json.loads(archive.read(info))
    file.seek(info.header_offset + 26)  # of the local header, before the lengths of two fields
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    packed = pyarrow.BufferReader(file.read(info.compress_size))
    return json.loads(pyarrow.input_stream(packed, compression="zstd").read())
