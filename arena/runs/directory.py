"""The directory of a run: begin a run in it, continue one, or read its files."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import gymnasium

from arena.answers import ANSWERS
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import ArenaError, CorpusError, DataError, UnknownNameError, clip
from arena.kit.files import Form, read_json, schema_error, sha256_file, sha256_json, write_json
from arena.kit.workdir import OutputKind, output_directory, read_manifest_of
from arena.metrics import METRICS, Metric
from arena.plugins import Registry, kinds, origin_of, recorded_name
from arena.runs.trajectories import TRAJECTORIES, is_cut_off, read_episodes
from arena.tasks import TASKS, TaskSet
from arena.text.display import count
from arena.tools import Tool

MANIFEST = "manifest.json"
MANIFEST_VERSION = 3
FOUND_FILE = "start_from.json"
TIMING = "timing.json"
MACHINE = "machine.json"
CREDIT = "credit.json"
RUN = OutputKind("run", MANIFEST, {"agent": str, "sha256": dict})
_FILES = (
    "qrels.trec",
    "metrics.json",
    FOUND_FILE,
    TRAJECTORIES,
    TIMING,
    MACHINE,
    CREDIT,
    "judgements/*.json",
)
_FORM: dict[str, Any] = {
    "arena": str, "task": str, "definition": {"metrics": list}, "agent": str, "agent_options": dict,
    "environment": {"retriever": str, "reward": str}, "budget": {"max_steps": int}, "seed": int,
    "topics": list, "sha256": {"corpus": str},
}  # fmt: skip


@contextmanager
def run_directory(output: Path, manifest: dict[str, Any], overwrite: bool) -> Iterator[None]:
    """Lock `output` for the run that `manifest` describes: a new one, or one to continue."""
    written = [file for name in ANSWERS.names() for file in ANSWERS.get(name).files]
    kind = RUN._replace(files=tuple(dict.fromkeys([*written, *_FILES])))
    with output_directory(output, kind, overwrite=overwrite) as before:
        path = output / TRAJECTORIES
        if before is None or not path.is_file() or not path.stat().st_size:
            write_json(output / MANIFEST, manifest)  # without an episode there is nothing to keep
        else:
            _check_same(output, before, manifest)
            recorded = OpenedRun(output)
            if recorded.files is not None and not is_cut_off(path):  # else it continues
                recorded.refuse_changed(TRAJECTORIES)
        yield


def _check_same(output: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    differing = []
    for key, value in manifest.items():
        if key in ("environment", "budget") and isinstance(before.get(key), dict):
            differing += [part for part in value if before[key].get(part) != value[part]]
        elif key not in ("sha256", "metrics", "agent_files", "success", "left_out"):
            differing += [key] * (before.get(key) != value)
    differing += ["repeats"] * (before.get("repeats") != manifest.get("repeats"))
    then, now = before["sha256"], manifest["sha256"]
    differing += [f"sha256 of {name}" for name in now if then.get(name) != now[name]]
    if "sha256 of environment" in differing and "sha256 of code" in differing:
        differing.remove("sha256 of environment")  # the same files
    if "sha256 of code" in differing:
        differing = [each for each in differing if each != "plugins"]  # likewise
    if not differing:
        return
    hint = ""
    if differing == ["sha256 of code"]:
        hint = (
            ": code of arena, baselines or the agent has changed, from "
            f"{str(then.get('code'))[:12]} to {now['code'][:12]}"
        )
    raise CorpusError(
        f"{str(output)!r} contains another run (it differs in "
        f"{', '.join(dict.fromkeys(differing))}{hint}). Name another directory or pass --overwrite."
    )


@contextmanager
def timing(output: Path, begun: bool) -> Iterator[None]:
    """Write the seconds that the block takes, added to those of earlier parts of the run.

    If the run was `begun` earlier without a file of its time, none is written.
    """
    before = read_timing(output) if begun else 0.0
    started = time.monotonic()
    try:
        yield
    finally:
        if before is not None:
            seconds = round(before + time.monotonic() - started, 3)
            write_json(output / TIMING, {"seconds": seconds})


def read_timing(directory: Path) -> float | None:
    """Return the seconds that a run took; None if it was not timed."""
    path = directory / TIMING
    if not path.is_file():
        return None
    with suppress(ValueError):
        timed = read_json(path)
        if (
            schema_error(timed, {"seconds": int | float}) is None
            and 0 <= timed["seconds"] < math.inf
        ):
            return float(timed["seconds"])
    raise CorpusError(f"{str(path)!r} has no number of seconds. Delete it.")


class OpenedRun:
    """The manifest and the episodes of a run, opened for reading; `path` is the file of these."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        manifest = read_manifest_of(self.directory, RUN._replace(keys={"agent": str}))
        if manifest is None:
            exists = os.path.exists(directory)  # noqa: PTH110
            why = f"no readable {MANIFEST} of one" if exists else "it does not exist"
            raise CorpusError(
                f"{str(self.directory)!r} contains no run ({why}). Name "
                "the --output of an `arena run`, or a folder in the runs/ of an experiment."
            )
        if (version := manifest.get("version")) != MANIFEST_VERSION:
            raise CorpusError(
                f"{str(self.directory / MANIFEST)!r} has version {clip(version)}, this release "
                f"reads {MANIFEST_VERSION}. Run it again, or use the release that wrote it."
            )
        self.manifest = manifest
        self._check(_FORM)
        settings = self.manifest["environment"] | self.manifest["budget"]
        parts = [self.manifest["task"], *settings.values()]
        for part in (*parts, self.manifest.get("metrics")):
            recorded_name(str(part), self.directory / MANIFEST)
        self._require_plugins()
        self.check_name(TASKS, str(self.manifest["task"]))
        self.task = TASKS.get(self.manifest["task"])()
        self.path = self.directory / TRAJECTORIES
        if not self.path.is_file() or not self.path.stat().st_size:
            raise CorpusError(f"{str(self.path)!r} contains no episode. Play one with `arena run`.")

    def _require_plugins(self) -> None:
        """Raise CorpusError if a plug-in of the environment is not loaded; name it."""
        if not self.manifest.get("plugins"):
            return
        registries = kinds()
        for plugin in self.manifest["plugins"]:
            for used in plugin["names"]:
                kind, _, name = used.rpartition(" ")
                with suppress(UnknownNameError):
                    if kind == "agent" or registries[kind].get(name) is not None:
                        continue
                what, do = "this process", "Define it before you open the run."
                if "file" in plugin:
                    what, do = plugin["file"], f"Load it: --plugin {plugin['file']}."
                elif "distribution" in plugin:
                    what = f"{plugin['distribution']} {plugin.get('version', '')}".strip()
                    do = f"Install it: pip install '{what.replace(' ', '==')}'."
                raise CorpusError(
                    f"{str(self.directory)!r} was run with the {kind} {name!r} of {what}, which is "
                    f"not loaded. {do}"
                )

    def changed_plugins(self) -> list[str]:
        """Return a sentence on each plug-in that has another version or hash than in the run.

        That of the agent does not count: its actions are recorded.
        """
        registries = kinds()
        changed: dict[str, str] = {}
        for then in self.manifest.get("plugins", ()):
            for used in then["names"]:
                kind, _, name = used.rpartition(" ")
                found = None if kind == "agent" else origin_of(registries[kind].get(name))
                now = found.to_json() if found else {}
                if kind != "agent" and any(
                    then.get(key) != now.get(key) for key in ("version", "sha256")
                ):
                    versions = f"{now.get('version', '')} ({then.get('version', '')} then)"
                    what = str(then.get("file") or then.get("distribution"))
                    known = then.get("version") != now.get("version")
                    changed[f"{what} {versions}" if known else what] = used
        return [
            f"The plug-in {what} has changed since the run ({used})."
            for what, used in changed.items()
        ]

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The tools of the run's episodes by name, as registered."""
        settings = self.manifest["environment"]
        offered = self.task.offered(settings.get("references"), settings.get("tools", ()))
        return {tool.name: tool for tool in offered}

    @cached_property
    def besides(self) -> list[Metric]:
        """The metrics that the run reports besides those of its task."""
        return self.task.find_metrics(self.manifest.get("metrics", {}).get("names", ()))

    @cached_property
    def _directions(self) -> dict[str, bool | None]:
        return self.task.directions(self.besides)

    def direction(self, column: str) -> bool | None:
        """Return `Metric.lower_is_better` of a column of ``metrics.json``."""
        if column.startswith("pass@"):
            return False
        name = column.partition(".")[2] if column.startswith("best@") else column
        if name in self._directions:
            return self._directions[name]
        return METRICS.get(name.rpartition(".")[2]).lower_is_better

    @property
    def files(self) -> dict[str, str] | None:
        """Name -> SHA-256 of every file that the run left when it finished; None before."""
        files = self.manifest.get("files")
        return files if isinstance(files, dict) else None

    def check_name(self, registry: Registry[Any], name: str) -> None:
        """Raise UnknownNameError, which names the manifest, if `registry` has no such name."""
        try:
            registry.get(name)
        except UnknownNameError as error:
            raise UnknownNameError(f"{str(self.directory / MANIFEST)!r}: {error}") from None

    def _check(self, form: Form) -> None:
        if (why := schema_error(self.manifest, form)) is not None:
            raise CorpusError(
                f"{str(self.directory / MANIFEST)!r} is damaged: {why}. Run it again."
            )

    def finished_files(self) -> dict[str, str]:
        """Return the name and the SHA-256 of every file that the run left when it finished."""
        if self.files is not None:
            return self.files
        played = sum(1 for _ in read_episodes(self.path))
        total = len(self.manifest["topics"]) * self.repeats
        raise CorpusError(
            f"{str(self.directory)!r} is not finished: {played} of "
            f"{count(total, 'episode')} are played. "
            "The `arena run` that began it resumes there."
        )

    def refuse_changed(self, *names: str) -> None:
        """Refuse files of a finished run that are not as it left them."""
        for name in names:
            path = self.directory / name
            if not path.is_file():
                raise CorpusError(
                    f"{str(path)!r} is missing. Restore it, or run it again with --overwrite."
                )
            expected, found = self.manifest["files"].get(name), sha256_file(path)
            if found != expected:
                raise CorpusError(
                    f"{str(path)!r} is not as the run left it: its SHA-256 is {found}, the "
                    f"manifest has {clip(expected)}. Restore it, or run it again with --overwrite."
                )

    def open_corpus(
        self, corpus: Corpus | str | Path, tasks: str | Path | None = None
    ) -> tuple[Corpus, TaskSet]:
        """Return the corpus of the run and its task set; refuse others."""
        corpus = Corpus.resolve(corpus, tasks)
        settings = self.manifest["environment"]
        task_set = TaskSet(corpus, settings.get("references"), settings.get("since"))
        self.refuse_other({"corpus": corpus.sha256, "tasks": task_set.sha256})
        return corpus, task_set

    def refuse_other(self, hashes: dict[str, Any]) -> None:
        """Raise CorpusError if one of these hashes of today is not the run's of that name."""
        recorded = self.manifest["sha256"]
        what = {"corpus": "corpus", "tasks": "task set", "index": "index", "input": "input"}
        for name, value in hashes.items():
            if recorded.get(name) != value:
                raise CorpusError(
                    f"{str(self.directory)!r} was run with another "
                    f"{what.get(name, f'index among its {name}')} ({clip(recorded.get(name))}, "
                    f"here it is {clip(value)}). Name the --corpus and --tasks of the run."
                )

    @property
    def repeats(self) -> int:
        """How many episodes the run plays of each topic."""
        return int(self.manifest.get("repeats", 1))

    def episodes(self, every: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the complete episodes in order: the first of each topic, or `every` repeat."""
        played: set[tuple[str, int]] = set()
        for number, record in enumerate(read_episodes(self.path), 1):
            same = ("arena", "task", "sha256")
            foreign = [key for key in same if self.manifest[key] != record[key]]
            this = record["topic_id"], record.get("repeat", 0)
            if this in played or record["topic_id"] not in self.manifest["topics"]:
                foreign = ["topic_id"]
            if this[1] not in range(self.repeats):
                foreign = ["repeat"]
            if foreign:
                raise DataError(
                    f"{str(self.path)!r} line {number} is not of this run: it differs from "
                    f"{MANIFEST} in {', '.join(foreign)}."
                )
            played.add(this)
            if every or this[1] == 0:
                yield record
        if not played:
            raise CorpusError(
                f"{str(self.path)!r} contains no complete episode. Give the command that began the "
                "run again to continue it."
            )

    def remarks(self, played: int) -> list[str]:
        """Return sentences on what differs from a finished run; `played` episodes are complete."""
        remarks = []
        total = len(self.manifest["topics"]) * self.repeats
        if is_cut_off(self.path):
            remarks.append("The last line is incomplete and was skipped.")
        if played < total:
            remarks.append(f"The run has {played} of its {count(total, 'episode')}.")
        else:
            expected = (self.files or {}).get(TRAJECTORIES)
            if expected is not None and expected != sha256_file(self.path):
                remarks.append(f"{TRAJECTORIES} is not as the run left it.")
        return remarks

    def environment(self, corpus: Corpus, topics: list[str]) -> gymnasium.Env[Any, Any]:
        """Return the environment of the run, to play `topics`."""
        try:
            return self.config().make(corpus, topics)
        except CorpusError:
            raise
        except ArenaError as error:
            raise CorpusError(
                f"{str(self.directory / MANIFEST)!r} describes no environment: {error}"
            ) from None

    def config(self) -> EnvConfig:
        """Return the settings of the run's environment."""
        settings: dict[str, Any] = self.manifest["environment"] | self.manifest["budget"]
        if (recorded := settings.get("start_from")) is not None:
            path = self.directory / FOUND_FILE
            settings["start_from"] = None
            with suppress(ValueError):
                settings["start_from"] = read_json(path)
            if recorded != {"sha256": sha256_json(settings["start_from"])}:
                raise CorpusError(f"{str(path)!r} is not as the run left it.")
        return EnvConfig.from_settings(self.task.name, settings)
