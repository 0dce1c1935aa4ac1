"""``trajectories.jsonl``: one line per episode, whole or absent; docs/runs.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

from arena.errors import CorpusError, DataError, clip
from arena.kit.files import read_json, schema_error
from arena.tasks import Task

VERSION = 2
TRAJECTORIES = "trajectories.jsonl"


def keep_complete(
    path: Path, topics: Sequence[str], same: Mapping[str, Any], task: Task, repeats: int = 1
) -> int:
    """Return how many episodes are complete; cut off a last one that a kill left incomplete.

    The lines stand in the order of `topics`, each with its `repeats`; every episode of this run
    has the keys and values of `same`. A bad line before the last is refused: the episodes after it
    may have cost a lot.
    """
    if not path.exists():
        return 0
    done = kept = 0
    with path.open("r+b") as file:
        for line in file:
            record = parse_line(line)
            expected = None
            if done < len(topics) * repeats:
                repeat = {"repeat": done % repeats} if repeats > 1 else {}
                expected = {**same, "topic_id": topics[done // repeats], **repeat}
            if (
                not expected
                or not record
                or not task.takes(record["answers"])
                or any(record.get(key) != expected[key] for key in expected)
            ):
                if file.read(1):
                    raise CorpusError(
                        f"{str(path)!r} line {done + 1} is not as the run wrote it. Repair it, "
                        "name another directory, or pass --overwrite."
                    )
                break
            kept, done = kept + len(line), done + 1
        file.truncate(kept)
    return done


def append(file: FileIO, record: Mapping[str, Any]) -> None:
    """Write one episode in one piece and sync it to the disk."""
    # Not sorted: the order of keys in an action is part of it.
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
    try:
        while line:  # more than one piece only where the disk is full or a signal comes
            line = line[file.write(line) or 0 :]
        os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file.name)) from error


def read_episodes(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete episodes of a file; a last line that was cut off is skipped."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):  # only the last one: its process was killed
                return
            record = parse_line(line)
            if record is None:
                raise DataError(
                    f"{str(path)!r} line {number} is not an episode of version {VERSION}. It was "
                    "changed, or another release wrote it; run it again."
                )
            yield record


def answers_of(record: dict[str, Any], task: Task) -> dict[str, Any]:
    """Return the answers of an episode: stage -> a ranking, a `MindMap` or a report."""
    kinds = {stage.name: stage.answer for stage in task.stages}
    for stage, answer in record["answers"].items():
        if not task.takes({stage: answer}):
            raise DataError(
                f"topic {record['topic_id']!r}: the task {record['task']!r} does not take its "
                f"answer to {clip(stage)}. Run it again."
            )
    try:
        return {stage: kinds[stage].read(answer) for stage, answer in record["answers"].items()}
    except DataError as error:
        raise DataError(f"topic {record['topic_id']!r}: {error}") from None


def seen_of(record: dict[str, Any]) -> set[str] | None:
    """Return the ids that the report of an episode cites and the episode showed, if recorded."""
    return set(record["seen"]) if "seen" in record else None


def is_cut_off(path: Path) -> bool:
    """Return whether the last line of a file is incomplete."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def plain(value: Any) -> Any:
    """Return `value` as it is read back from its JSON text."""
    return json.loads(json.dumps(value))


_EPISODE = {
    "arena": str, "task": str, "topic_id": str, "seed": int, "observation_sha256": str,
    "steps": list, "truncated": bool, "spent": dict, "answers": dict, "metrics": dict,
    "notes": dict, "sha256": dict,
}  # fmt: skip
_STEP = {
    "action": object, "observation_sha256": str, "reward": int | float, "reward_terms": dict,
    "gain": int | float,
}  # fmt: skip


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the episode in a line, or None if it is not a valid one."""
    try:
        record: Any = read_json(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    valid = (
        schema_error(record, _EPISODE) is None
        and record.get("version") == VERSION
        and record["steps"]
        and not any(schema_error(step, _STEP) for step in record["steps"])
        and all(isinstance(value, int) for value in record["spent"].values())
    )
    return record if valid else None
