"""Results that others state as runs that `arena compare` takes: inspect_ai, Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

from arena.dates import UNDATED
from arena.errors import ArenaError, DataError, clip
from arena.kit.files import schema_error
from arena.metrics import mean
from arena.plugins import recorded_name
from arena.results.comparison.opening import Opened, result_reader
from arena.runs.directory import OpenedRun
from arena.tasks import open_task
from arena_integrations._results import SAMPLES

_ZSTANDARD = 93  # which zipfile reads from Python 3.14 on
_MANIFEST = {
    "agent": str, "agent_options": dict, "arena": str, "budget": dict, "definition": dict,
    "environment": {"retriever": str}, "seed": int, "sha256": {"corpus": str}, "topics": list,
}  # fmt: skip
"""Keys of a manifest that `arena compare` reads."""


class StatedRun(OpenedRun):
    """Results of a run in a file of another kind: a row of scores for each episode, and no steps.

    Attributes:
        rows: Topic -> its rows.
    """

    def __init__(
        self, path: Path, manifest: dict[str, Any], rows: dict[str, list[dict[str, Any]]]
    ) -> None:
        self.directory, self.manifest, self.rows = path, manifest, rows
        self.task = open_task(manifest["task"])

    def episodes(self, every: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what the file states of each episode."""
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
        log = _of_inspect(path)
    except ArenaError as error:
        raise DataError(f"{str(path)!r}: {error}") from None
    except Exception as error:  # of zip, of JSON, or of values where others are expected
        raise DataError(f"{str(path)!r} is no finished log of inspect_ai: {error}.") from error
    return _stated(log)


def _of_inspect(path: Path) -> StatedRun:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        spec = _member(archive, file, "header.json")["eval"]
        samples = _member(archive, file, "summaries.json")
    about, settings = spec.get("metadata") or {}, spec.get("task_args") or {}
    name = recorded_name(about.get("task") or spec["task"], path).removeprefix("arena/")
    task, rows = open_task(name), dict[str, list[dict[str, Any]]]()
    for sample in samples:
        values, of_topic = dict[str, Any](), dict(sample.get("metadata") or {})
        for scorer, score in (sample.get("scores") or {}).items():
            value = score["value"]
            values |= value if isinstance(value, dict) else {scorer: value}
            of_topic |= score.get("metadata") or {}
        row = {key: of_topic[key] for key in ("cluster", "domain") if of_topic.get(key)}
        row |= {n: v for n, v in values.items() if n in task.metrics and _is_number(v)}
        rows.setdefault(str(sample["id"]), []).append(row)
    model = spec.get("model")
    manifest = {
        "task": name, "agent": spec.get("solver") if model in (None, "none") else model,
        "agent_options": {}, "arena": "", "seed": about.get("seed", ""),
        "environment": {"retriever": settings.get("retriever", "unknown")},
        "sha256": about.get("sha256", {}), "encoder": about.get("encoder"),
        "undated": bool(about.get("undated")), "definition": task.definition(), "topics": [*rows],
        "repeats": max(map(len, rows.values()), default=1),
    }  # fmt: skip
    return StatedRun(path, manifest, rows)


@result_reader(SAMPLES)
def read_samples(path: Path) -> Opened:
    """The samples of Every Eval Ever: the scores that they state, beside the results of a run.

    Raises:
        DataError: The file, or that of the results, is missing or damaged, or of another program.
    """
    try:
        return _stated(_of_samples(path))
    except ArenaError as error:
        raise DataError(f"{str(path)!r}: {error}.".replace("..", ".")) from None
    except Exception as error:  # of JSON, or of values where others are expected
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"{str(path)!r} is no file of samples beside its results: {why}.") from None


def _of_samples(path: Path) -> StatedRun:
    data, beside = path.read_bytes(), path.with_name(path.name.replace(SAMPLES, ".json"))
    if not beside.is_file():
        raise DataError(f"there is no {beside.name!r} beside it. Export the run again")
    whole = json.loads(beside.read_bytes())
    about = whole["eval_library"].get("additional_details") or {}
    if "manifest" not in about:
        raise DataError("it has no manifest of a run: `arena export results` did not write it")
    if hashlib.sha256(data).hexdigest() != whole["detailed_evaluation_results"]["checksum"]:
        raise DataError("it is not as it was written: the checksum beside it differs")
    manifest = json.loads(about["manifest"])
    if why := schema_error(manifest, _MANIFEST):
        raise DataError(f"its manifest is damaged: {why}")
    manifest = {**manifest, "task": recorded_name(manifest["task"], path)}
    manifest.pop("files", None)
    rows: dict[str, dict[str, Any]] = {topic: {} for topic in manifest["topics"]}
    for sample in map(json.loads, data.splitlines()):
        about = dict(sample["metadata"])
        row = rows[sample["sample_id"]].setdefault(about.pop("repeat"), about)
        if not _is_number(score := sample["evaluation"]["score"]):
            raise DataError(f"the score {clip(score)} is not a number")
        row[sample["evaluation_result_id"]] = score
    return StatedRun(path, manifest, {s: [*each.values()] or [{}] for s, each in rows.items()})


def _stated(log: StatedRun) -> Opened:
    """Return a run with the scores that its rows state."""
    path = log.directory
    found = {name for rows in log.rows.values() for row in rows for name in row}
    names = sorted(found & {*log.task.metrics, *(metric.name for metric in log.besides)})
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
    unit = f"{UNDATED} topic" if log.manifest.get("undated") else "topic"
    return log, {
        "unit": unit, "mean": means, "per_topic": per_topic, "ceiling": {}, "counts": counts,
    }  # fmt: skip


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
