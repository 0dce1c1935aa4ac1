"""A run that was written before, opened to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json
from arena.errors import CorpusError, DataError, clip
from arena.runs.directory import FOUND_FILE, MANIFEST, MANIFEST_VERSION
from arena.runs.environment import recorded_types
from arena.runs.trajectories import TRAJECTORIES, is_cut_off, read_episodes
from arena.tasks import DEFAULT_BUDGET, TASKS

_TYPES: dict[str, type] = {
    "arena": str, "task": str, "agent": str, "environment": dict, "budget": dict, "seed": int,
    "surveys": list, "sha256": dict,
}  # fmt: skip


class OpenedRun:
    """The manifest and the episodes of a run.

    Args:
        directory: of the run.

    Raises:
        CorpusError: if it holds no run, one of another release, or its manifest is damaged.
        UnknownNameError: if its task is unknown here.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.manifest = self._read_manifest()
        self._check("", self.manifest, _TYPES)
        self.task = str(self.manifest["task"])
        TASKS.get(self.task)
        self._check("environment.", self.manifest["environment"], recorded_types(self.task))
        self._check("budget.", self.manifest["budget"], dict.fromkeys(DEFAULT_BUDGET, int))
        self.path = self.directory / TRAJECTORIES
        if not self.path.is_file() or not self.path.stat().st_size:
            raise CorpusError(
                f"{str(self.path)!r} holds no episode. Let `arena run` play one first."
            )

    def _read_manifest(self) -> dict[str, Any]:
        path = self.directory / MANIFEST
        try:
            manifest = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict) or "agent" not in manifest:
            raise CorpusError(
                f"{str(self.directory)!r} holds no run (no readable {MANIFEST} of one). Name the "
                "--output of an `arena run`."
            )
        version = manifest.get("version")
        if version != MANIFEST_VERSION:
            raise CorpusError(
                f"{str(path)!r} has version {clip(version)}, this release reads "
                f"{MANIFEST_VERSION}. Run it again, or use the release that wrote it."
            )
        return manifest

    def _check(self, part: str, values: dict[str, Any], types: dict[str, type]) -> None:
        for name, kind in types.items():
            if not isinstance(values.get(name), kind):
                found = f"={clip(values[name])}" if name in values else " is missing"
                raise CorpusError(
                    f"{str(self.directory / MANIFEST)!r} is damaged: {part}{name}{found}. Run it "
                    "again."
                )

    def refuse_other(self, now: dict[str, Any]) -> None:
        """Refuse a corpus, index or task set that is not the run's.

        Args:
            now: hashes of today, by the names that they have in the run.

        Raises:
            CorpusError: if one differs.
        """
        then = self.manifest["sha256"]
        for name, value in now.items():
            if then.get(name) != value:
                what = {"corpus": "corpus", "tasks": "task set", "index": "index"}
                raise CorpusError(
                    f"{str(self.directory)!r} was run with another "
                    f"{what.get(name, f'index among its {name}')} ({clip(then.get(name))}, here it "
                    f"is {clip(value)}). Name the --corpus that it was run with."
                )

    def episodes(self) -> Iterator[dict[str, Any]]:
        """Yield the complete episodes in order.

        Raises:
            DataError: if a line is no episode, or one of another run.
        """
        played: set[str] = set()
        for number, record in enumerate(read_episodes(self.path), 1):
            told = {key: record[key] for key in ("arena", "task", "sha256")}
            foreign = [key for key, value in told.items() if self.manifest[key] != value]
            if record["survey"] in played or record["survey"] not in self.manifest["surveys"]:
                foreign = ["survey"]
            if foreign:
                raise DataError(
                    f"{str(self.path)!r} line {number} is not of this run: it differs from "
                    f"{MANIFEST} in {', '.join(foreign)}."
                )
            played.add(record["survey"])
            yield record
        if not played:
            raise CorpusError(
                f"{str(self.path)!r} holds no complete episode. The command that began the run "
                "goes on with it."
            )

    def remarks(self, played: int) -> list[str]:
        """Return sentences on what is not as a finished run left it."""
        told = []
        total = len(self.manifest["surveys"])
        if is_cut_off(self.path):
            told.append("The last line is incomplete and was passed over.")
        if played < total:
            told.append(f"The run has {played} of its {total} episodes.")
        else:
            files = self.manifest.get("files")
            left = files.get(TRAJECTORIES) if isinstance(files, dict) else None
            if left != sha256_file(self.path):
                told.append(f"{TRAJECTORIES} is not as the run left it.")
        return told

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the run's environment, all but corpus and surveys.

        Raises:
            CorpusError: if what was found is not as the run left it.
        """
        arguments = self.manifest["environment"] | self.manifest["budget"]
        found = arguments.get("found")
        if isinstance(found, dict) and set(found) == {"sha256"}:
            path = self.directory / FOUND_FILE
            try:
                arguments["found"] = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                arguments["found"] = None
            if sha256_json(arguments["found"]) != found["sha256"]:
                raise CorpusError(f"{str(path)!r} is not as the run left it.")
        return arguments  # type: ignore[no-any-return]
