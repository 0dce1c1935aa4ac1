"""Play the recorded actions of a run again, and stop where anything differs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

from arena.corpus import Corpus
from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import read_sealed, sha256_file, sha256_json
from arena.kit.terminal import progress
from arena.mindmap import identity
from arena.plugins import load
from arena.runs import environment
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep, play, record_end, record_step, seed_of
from arena.runs.runner import write_results
from arena.runs.trajectories import TRAJECTORIES, plain
from arena.tasks import TaskSet
from arena.version import __version__

_SHOWN = 300
_OBSERVATION = "the observation"


class ReplayDifference(NamedTuple):
    """Where a replay first differs from its run; step 0 is the reset, whose action is None.

    Of an observation the recorded value is its SHA-256, or the error in it.
    """

    topic_id: str
    step: int
    action: Any
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        at = "reset" if self.step == 0 else f"action {_text(self.action)}"
        digest = isinstance(self.expected, str) and self.what == _OBSERVATION
        expected = f"one with SHA-256 {self.expected[:12]}" if digest else _text(self.expected)
        return (
            f"topic {self.topic_id!r}, step {self.step} ({at}): "
            f"{self.what} differs: expected {expected}, found {_text(self.found)}"
        )


class Replay(NamedTuple):
    """Report of a replay.

    Attributes:
        episodes: Episodes that were played again.
        steps: Their steps.
        difference: The first difference, after which nothing is played.
        changed: Files of the finished run that are not what its episodes give, or a judge wrote.
        remarks: What has changed and is no difference.
    """

    episodes: int
    steps: int
    difference: ReplayDifference | None
    changed: list[str]
    remarks: list[str]

    @property
    def equal(self) -> bool:
        """Whether the run was reproduced."""
        return self.difference is None and not self.changed

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        difference = self.difference
        return {
            "equal": self.equal,
            "episodes": self.episodes,
            "steps": self.steps,
            "difference": None if difference is None else difference._asdict(),
            "changed": self.changed,
            "remarks": self.remarks,
        }


def replay(
    run: str | Path,
    corpus: Corpus | str | Path,
    tasks: str | Path | None = None,
    *,
    plugins: Sequence[str | Path] = (),
) -> Replay:
    """Play the actions of a run again in a fresh environment, and compare everything.

    Compares the seed and the observation after the reset; for every step the observation, its
    error, the reward, its terms, and whether and how the episode ended; and at the end what was
    spent, the metrics and the answers. Stops at the first difference. Then writes the results of a
    finished run again, elsewhere, and compares the files: rankings, other answers and metrics.
    Different code or another release is a remark, not a difference.

    Args:
        run: Directory of a run, finished or not; an incomplete last line is skipped.
        corpus: The corpus of the run, or its directory.
        tasks: Directory of the task set that the run played, if any.
        plugins: Files of plug-ins to load first, see `arena.plugins`.
    """
    load(plugins)
    recorded = OpenedRun(run)
    corpus, task_set = recorded.open_corpus(corpus, tasks)
    topics, encoder = recorded.manifest["topics"], recorded.manifest["environment"].get("encoder")
    env = recorded.environment(corpus, topics)
    with closing(env):
        hashes = environment.hashes(env, corpus, task_set, encoder)
        code = hashes.pop("environment")
        recorded.refuse_other(hashes)
        episodes = steps = 0
        difference = None
        repeats = recorded.repeats
        total = len(topics) * repeats
        records = recorded.episodes(every=True)
        bar = progress(
            records, total=total, desc="replay", unit="topic" if repeats == 1 else "episode"
        )
        for record in bar:
            place = topics.index(record["topic_id"]) * repeats + record.get("repeat", 0)
            seed = seed_of(recorded.manifest["seed"], topics, repeats, place)
            difference, played = _replay_episode(env, record, seed)
            episodes, steps = episodes + 1, steps + max(len(played) - 1, 0)
            if difference is not None:
                break
    changed = []
    if difference is None and recorded.files is not None and episodes == total:
        changed = _changed_files(recorded, task_set) + _changed_verdicts(recorded.directory)
    remarks = [] if difference else recorded.remarks(episodes)
    remarks += _code_remarks(recorded.manifest, code)
    remarks += recorded.changed_plugins()
    if recorded.manifest.get("encoder") != (encoder and plain(identity(encoder))):
        remarks.append("The encoder of headings, or a library that it uses, has changed.")
    return Replay(episodes, steps, difference, changed, remarks)


def replay_steps(
    run: str | Path,
    topic_id: str,
    corpus: Corpus | str | Path,
    tasks: str | Path | None = None,
    instead: Mapping[int, Any] | None = None,
) -> Iterator[PlayedStep]:
    """Play the recorded actions of one episode again; yield its reset, then every step.

    `instead` maps numbers of steps, from 1, to actions that are played in their place; an episode
    that does not end with its last action is then finished. For the other arguments see `replay`.
    """
    recorded = OpenedRun(run)
    records = {record["topic_id"]: record for record in recorded.episodes()}
    if topic_id not in records:
        raise UnknownNameError(
            f"{str(run)!r} has no episode of topic {clip(topic_id)}."
            f"{did_you_mean(topic_id, records)}"
        )
    if recorded.files is not None:
        recorded.refuse_changed(TRAJECTORIES)
    corpus, _ = recorded.open_corpus(corpus, tasks)
    taken = [step["action"] for step in records[topic_id]["steps"]]
    if instead:
        taken = [instead.get(number, action) for number, action in enumerate(taken, 1)]
        taken += [{"tool": "finish", "arguments": {}}]
    actions = iter(taken)
    with closing(recorded.environment(corpus, [topic_id])) as env:
        episode = play(env, lambda _: next(actions), topic_id, records[topic_id]["seed"])
        for _, step in zip([None, *taken], episode, strict=False):  # taken first, see below
            yield step
    if not step.terminated and not step.truncated:
        raise CorpusError(
            f"the episode of topic {clip(topic_id)} does not end with its last action: "
            f"{str(run)!r} "
            "or the code was changed. `arena replay` finds where."
        )


def replay_episodes(
    recorded: OpenedRun,
    corpus: Corpus,
    topics: Collection[str] | None = None,
    every: bool = False,
) -> Iterator[tuple[dict[str, Any], list[PlayedStep]]]:
    """Play the complete episodes of a run again; yield each record with its reset and its steps.

    `topics` names some of them; the first of each is played, or `every` repeat. Raise CorpusError
    where an episode differs from its record.
    """
    played = recorded.manifest["topics"]
    with closing(recorded.environment(corpus, played)) as env:
        for record in recorded.episodes(every):
            if topics is not None and record["topic_id"] not in topics:
                continue
            difference, steps = _replay_episode(env, record, record["seed"])
            if difference is not None:
                raise CorpusError(f"{str(recorded.directory)!r} does not replay: {difference}.")
            yield record, steps


def _replay_episode(
    env: gymnasium.Env[Any, Any], record: dict[str, Any], own_seed: int
) -> tuple[ReplayDifference | None, list[PlayedStep]]:
    """Return the first difference in an episode, if any, and the reset and steps played."""
    topic_id, steps = record["topic_id"], record["steps"]
    if record["seed"] != own_seed:
        return ReplayDifference(topic_id, 0, None, "the seed", record["seed"], own_seed), []
    actions = iter([step["action"] for step in steps])
    episode = play(env, lambda _: next(actions), topic_id, own_seed)
    played: list[PlayedStep] = []
    # The records come first: when they end, no further action is asked for.
    for number, (before, now) in enumerate(zip([record, *steps], episode, strict=False)):
        played.append(now)
        if number == 0:
            budget = dict(now.observation["budget"])
        for what, expected, found in _compared(before, now, record, number, budget):
            if expected != found:
                return ReplayDifference(topic_id, number, now.action, what, expected, found), played
    return None, played


def _compared(
    before: dict[str, Any],
    now: PlayedStep,
    record: dict[str, Any],
    number: int,
    budget: dict[str, int],
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (what is compared, recorded value, value now) for a step; number 0 is the reset."""
    expected = before["observation_sha256"]
    if sha256_json(now.observation) != expected:
        error = {"error": before["error"]} if "error" in before else expected
        yield _OBSERVATION, error, now.observation
    if number == 0:
        return
    step = plain(record_step(now))
    for name in ("error", "reward", "reward_terms"):
        yield f"the {name.replace('_', ' ')}", before.get(name), step.get(name)
    last = number == len(record["steps"])
    yield "terminated", last and not record["truncated"], now.terminated
    yield "truncated", last and record["truncated"], now.truncated
    if last:
        end = plain(record_end(budget, now))
        for what, name in (("what was spent", "spent"), ("metrics",) * 2, ("answers",) * 2):
            yield what, record[name], end[name]


def _changed_files(recorded: OpenedRun, tasks: TaskSet) -> list[str]:
    """Return the files that are not what the episodes give.

    How a picture is drawn may change with the code, so its hash in the manifest counts.
    """
    assert recorded.files is not None
    with tempfile.TemporaryDirectory() as directory:
        again = Path(directory)
        (again / TRAJECTORIES).symlink_to(recorded.path.resolve())
        task = recorded.task.on(tasks)
        _, names = write_results(again, recorded.manifest, task, recorded.besides, tasks)
        expected = {
            name: recorded.files[name] if name.endswith(".svg") else sha256_file(again / name)
            for name in names
            if name != TRAJECTORIES
        }
    files = {name: recorded.directory / name for name in expected}
    return [
        name
        for name, path in files.items()
        if not path.is_file() or sha256_file(path) != expected[name]
    ]


def _changed_verdicts(directory: Path) -> list[str]:
    changed = []
    for path in sorted(directory.glob("judgements/*.json")):
        try:
            read_sealed(path)
        except DataError:
            changed.append(f"judgements/{path.name}")
    return changed


def _code_remarks(manifest: dict[str, Any], code: str) -> list[str]:
    remarks = []
    if manifest["arena"] != __version__:
        remarks.append(f"The run was made by release {manifest['arena']}, this is {__version__}.")
    if manifest["sha256"].get("environment") != code:
        remarks.append("The code of the environment has changed since the run.")
    return remarks


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
