"""Runs that are compared: opened and checked, named, and refused where they differ."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena import trec
from arena._internal.files import sha256_file
from arena.errors import CorpusError, DataError, clip
from arena.results.comparison.episodes import Reader
from arena.results.comparison.model import PlayedEpisode
from arena.runs.directory import MANIFEST, OpenedRun
from arena.runs.results import PICTURES, file_name
from arena.runs.trajectories import TRAJECTORIES

_QRELS = "qrels.trec"
_LONGEST = 80
_SHORT = 12
_FOLLOWS = {"corpus": ("task set", "surveys"), "task": ("metrics", "encoder")}
_NEEDED = ("metrics.json", TRAJECTORIES)


class FinishedRun:
    """A run that is complete, and whose files have the hashes of its manifest.

    Args:
        directory: Directory of the run.

    Attributes:
        manifest: Content of ``manifest.json``.
        metrics: Content of ``metrics.json``.

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

    def read(self, tick: Any = lambda: None) -> tuple[dict[str, PlayedEpisode], dict[str, Any]]:
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
        """Refuse damage that `OpenedRun` does not notice and a comparison would show."""
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
            metrics = json.loads(path.read_bytes())
            means, entries = metrics["mean"], metrics["per_survey"]
            scored, ceilings = metrics["counts"]["scored"], metrics["ceiling"]
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
        return metrics  # type: ignore[no-any-return]


def open_run(directory: str | Path) -> FinishedRun:
    """Return the run in `directory`.

    Raises:
        CorpusError: as `FinishedRun`.
        DataError: as `FinishedRun`, and if `directory` is no path.
    """
    if not isinstance(directory, str | Path):
        raise DataError(f"run {clip(directory)}: give the directory of a run.")
    return FinishedRun(directory)


def split_name(text: str | Path) -> tuple[str | None, str | Path]:
    """Return (name, directory) of ``NAME=DIR``; the name is None where there is only a directory.

    >>> split_name("ours=runs/scout"), split_name("runs/scout")
    (('ours', 'runs/scout'), (None, 'runs/scout'))
    """
    if not isinstance(text, str) or "=" not in text or _exists(text):
        return None, text
    name, _, directory = text.partition("=")
    return name.strip(), directory


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long for a file, but not for a run
        return False


def name_runs(
    given: Sequence[str | None], directories: Sequence[Path], manifests: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return a name for each run: the given one, or agent and retriever, or its directory's.

    Raises:
        DataError: if two runs lie in one directory, or no names tell them apart.
    """
    places = [directory.resolve() for directory in directories]
    for place, directory in zip(places, directories, strict=True):
        if places.count(place) > 1:
            raise DataError(f"the run {str(directory)!r} is given twice. Name each run once.")
    for name in given:
        if name is not None and (not name or len(name) > _LONGEST or not name.isprintable()):
            raise DataError(
                f"{clip(name)} cannot name a run: write NAME=DIR with 1 to {_LONGEST} characters."
            )
        if name is not None and (name == "ceiling" or name.endswith("(baseline)")):
            raise DataError(f"{clip(name)} cannot name a run: the tables call a row of theirs so.")
    played = [f"{m['agent']}, {m['environment']['retriever']}" for m in manifests]
    for candidates in (played, [place.name for place in places]):
        names = [name or other for name, other in zip(given, candidates, strict=True)]
        if len(set(names)) == len(names):
            return names
    twice = sorted({name for name in names if names.count(name) > 1})
    raise DataError(f"several runs are called {clip(twice[0])}. Name them: NAME=DIR.")


def refuse_different(runs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Refuse runs that differ in what they played.

    Args:
        runs: Name -> (manifest, metrics).

    Raises:
        DataError: if one differs from the first in corpus, task set, task, surveys, metrics, or
            the encoder that they compare headings by; the message has both values.
    """
    (first, (manifest, metrics)), *others = runs.items()
    for name, (other_manifest, other_metrics) in others:
        pairs = zip(
            _identity(manifest, metrics), _identity(other_manifest, other_metrics), strict=True
        )
        differing = {what: (mine, theirs) for (what, mine), (_, theirs) in pairs if mine != theirs}
        for cause, effects in _FOLLOWS.items():
            if cause in differing:
                differing = {k: v for k, v in differing.items() if k not in effects}
        parts = [f"{what} ({_values(*values)})" for what, values in differing.items()]
        if parts:
            raise DataError(
                f"{name!r} cannot be compared with {first!r}: they differ in {'; '.join(parts)}. "
                "Leave one of them out, or run it again like the other."
            )


def notes_on(runs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a sentence on each thing that differs and may: code, release, budget, seed, reward."""
    manifests = {name: manifest for name, (manifest, _) in runs.items()}
    for what, value_of in _MAY_DIFFER.items():
        groups: dict[str, list[str]] = {}
        for name, manifest in manifests.items():
            groups.setdefault(value_of(manifest), []).append(name)
        if len(groups) > 1:
            parts = [f"{value} ({'; '.join(names)})" for value, names in groups.items()]
            yield f"The runs differ in {what}: {', '.join(parts)}."


def _identity(manifest: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    hashes = manifest["sha256"]
    return [
        ("task", manifest["task"]),
        ("corpus", str(hashes.get("corpus"))),
        ("task set", str(hashes.get("tasks"))),
        ("surveys", sorted(map(str, manifest["surveys"]))),
        ("metrics", list(metrics["mean"])),
        ("encoder", manifest.get("encoder")),
    ]


def _values(mine: Any, theirs: Any) -> str:
    """Return both values; of lists what only one of them has."""
    if isinstance(mine, list):
        parts = []
        for whose, only in (
            ("the first", [x for x in mine if x not in set(theirs)]),
            ("the other", [x for x in theirs if x not in set(mine)]),
        ):
            shown = ", ".join(only[:3]) + (f" and {len(only) - 3} more" if len(only) > 3 else "")
            parts += [f"only {whose} has {shown}"] if only else []
        which = "; ".join(parts) or "in another order"
        return f"{len(mine)} and {len(theirs)}, {which}"
    return f"{_short(mine)} and {_short(theirs)}"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        name = value.get("encoder")
        model = (
            value.get("config", {}).get("model") if isinstance(value.get("config"), dict) else ""
        )
        return clip(f"{name} {model}")
    is_hash = isinstance(value, str) and len(value) == 64
    return repr(value[:_SHORT] + "...") if is_hash else clip(value)


def _budget(manifest: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in sorted(manifest["budget"].items()))


def _starting_papers(manifest: Mapping[str, Any]) -> str:
    options = manifest["environment"]
    return f"{options.get('references')}, {_short_found(options.get('found'))}"


def _short_found(found: Any) -> str:
    return str(found.get("sha256"))[:_SHORT] if isinstance(found, Mapping) else "no run"


_MAY_DIFFER = {
    # Without the agent's own, which differs where that lies in a file of the user's.
    "the code of environment and scores": lambda m: str(m["sha256"].get("environment"))[:_SHORT],
    "release": lambda m: m["arena"],
    "budget": _budget,
    "seed": lambda m: str(m["seed"]),
    "reward": lambda m: str(m["environment"].get("reward")),
    "the papers given at the beginning": _starting_papers,
}
