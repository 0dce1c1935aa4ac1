"""``trajectories.jsonl``: one line an episode, complete or not there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any


class Trajectories:
    """Append episodes to a file that survives being cut off anywhere."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.done: set[str] = set()

    def keep(self, surveys: list[str]) -> None:
        """Keep the leading complete episodes that belong to this run, and cut off the rest.

        Args:
            surveys: the order in which the run plays; episodes must stand in it.
        """
        self.done = set()
        if not self._path.exists():
            return
        kept = 0
        with self._path.open("r+b") as file:
            for line, survey_id in zip(file, surveys, strict=False):
                if not line.endswith(b"\n"):  # the process was killed while it wrote this
                    break
                try:
                    record = json.loads(line)
                except ValueError:
                    break
                if not _usable(record) or record["survey"] != survey_id:
                    break
                kept += len(line)
                self.done.add(survey_id)
            file.truncate(kept)

    def __enter__(self) -> Trajectories:
        self._file = self._path.open("ab")
        return self

    def append(self, record: dict[str, Any]) -> None:
        """Write one episode and see it to the disk."""
        line = json.dumps(record, sort_keys=True, separators=(",", ":"))
        self._file.write(line.encode("ascii") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done.add(record["survey"])

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self) -> list[dict[str, Any]]:
        """Return all episodes."""
        with self._path.open("rb") as file:
            return [json.loads(line) for line in file]


_TYPES = {"survey": str, "steps": list, "searches": int, "submitted": list, "truncated": bool}


def _usable(record: object) -> bool:
    """Return whether a line holds what the results are made from."""
    return (
        isinstance(record, dict)
        and all(isinstance(record.get(key), kind) for key, kind in _TYPES.items())
        and all(isinstance(paper_id, str) for paper_id in record["submitted"])
        and len(set(record["submitted"])) == len(record["submitted"])
    )
