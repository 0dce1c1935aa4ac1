"""A finished run, read once and checked against the hashes in its manifest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena import trec
from arena._internal.files import sha256_file
from arena.errors import CorpusError, DataError, clip
from arena.results.comparison._episodes import Reader
from arena.results.comparison.model import Episode
from arena.runs.directory import MANIFEST, OpenedRun
from arena.runs.results import PICTURES, file_name
from arena.runs.trajectories import TRAJECTORIES

_QRELS = "qrels.trec"
_NEEDED = ("metrics.json", TRAJECTORIES)


class FinishedRun:
    """A run that is complete, and as it was left.

    Args:
        directory: of the run.
        tick: called after each episode read.

    Attributes:
        manifest, metrics: the content of these files.
        episodes: survey -> what was done.
        gold: survey -> paper -> gain, of the surveys that have any.

    Raises:
        CorpusError: if there is no run, or one that is unfinished, damaged or was changed.
        DataError: if a file holds what it cannot.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        if not self.directory.exists():
            raise CorpusError(f"{str(directory)!r} does not exist. Name the --output of a run.")
        if not self.directory.is_dir():
            raise CorpusError(f"{str(directory)!r} is a file. Name the directory of a run.")
        self._run = OpenedRun(self.directory)
        self.manifest = self._run.manifest
        self._check_manifest()
        self._check_files()
        self.metrics = self._read_metrics()

    def read(self, tick: Any = lambda: None) -> tuple[dict[str, Episode], dict[str, Any]]:
        """Return the episodes, and the gold papers with their gains, both by survey."""
        reader, pictures = Reader(self.manifest), set(self.manifest["files"])
        episodes = {}
        for record in self._run.episodes():
            name = f"{PICTURES}/{file_name(record['survey'])}.svg"
            picture = None
            if name in pictures:
                picture = (self.directory / name).read_text(encoding="utf-8")
            episodes[record["survey"]] = reader.episode(record, picture)
            tick()
        if list(episodes) != self.manifest["surveys"]:
            raise CorpusError(
                f"{str(self.directory)!r} lacks episodes of its surveys. Run it again."
            )
        qrels = self.directory / _QRELS
        has_gold = _QRELS in self.manifest["files"] and qrels.stat().st_size
        return episodes, trec.read_qrels(qrels) if has_gold else {}

    def _check_manifest(self) -> None:
        """Refuse what `OpenedRun` does not look at and a comparison shows."""
        for name in ("agent_options", "definition"):
            if not isinstance(self.manifest.get(name, {}), dict):
                raise CorpusError(
                    f"{str(self.directory / MANIFEST)!r} is damaged: "
                    f"{name}={clip(self.manifest[name])}. Run it again."
                )

    def _check_files(self) -> None:
        files = self.manifest.get("files")
        surveys = self.manifest["surveys"]
        if not isinstance(files, dict):
            played = sum(1 for _ in self._run.episodes())
            raise CorpusError(
                f"{str(self.directory)!r} is not finished: {played} of {len(surveys)} episodes are "
                "played. The `arena run` that began it goes on from there."
            )
        for name in _NEEDED:
            if name not in files:
                raise CorpusError(
                    f"{str(self.directory / MANIFEST)!r} is damaged: it does not hash {name}. Run "
                    "it again."
                )
        for name, expected in files.items():
            path = self.directory / name
            if not path.is_file() or sha256_file(path) != expected:
                what = "is not as the run left it" if path.is_file() else "is missing"
                raise CorpusError(
                    f"{str(path)!r} {what}. The `arena run` that made it writes it anew from "
                    "trajectories.jsonl, or with --overwrite from the beginning."
                )

    def _read_metrics(self) -> Mapping[str, Any]:
        path = self.directory / "metrics.json"
        try:
            found = json.loads(path.read_bytes())
            means, entries = found["mean"], found["per_survey"]
            scored, ceilings = found["counts"]["scored"], found["ceiling"]
            complete = set(entries) == set(self.manifest["surveys"]) and all(
                entry[name] is None or math.isfinite(entry[name])
                for entry in entries.values()
                for name in means
            )
            complete = complete and isinstance(scored, int) and set(means) <= set(ceilings)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            complete = False
        if not complete:
            raise DataError(f"{str(path)!r} holds no scores of this run. Run it again.")
        return found  # type: ignore[no-any-return]


def open_run(directory: str | Path) -> FinishedRun:
    """Return the run in `directory`; as `FinishedRun`, and a wrong type is told."""
    if not isinstance(directory, str | Path):
        raise DataError(f"run {clip(directory)}: give the directory of a run.")
    return FinishedRun(directory)
