"""Carry out the recorded actions again, and stop where something differs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

from arena import __version__
from arena._internal.files import sha256_json
from arena._internal.progress import progress
from arena.corpus import Corpus
from arena.errors import DataError
from arena.runs import environment
from arena.runs._opening import OpenedRun
from arena.runs._restoring import restore_action
from arena.runs.episodes import episode_seed, error_in
from arena.runs.trajectories import plain
from arena.tasks import TaskSet

_SHOWN = 300
_OBSERVATION = "the observation"


class Difference(NamedTuple):
    """Where a replay first differs from its run.

    Attributes:
        survey: of the episode.
        step: number of the step, from 1; 0 is the reset.
        action: that was carried out, as recorded; None for the reset.
        what: the first thing that differs.
        expected: what was recorded; of an observation its SHA-256, or the error that it told.
        found: what it is now.
    """

    survey: str
    step: int
    action: Any
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        at = "reset" if self.action is None else f"action {_text(self.action)}"
        digest = isinstance(self.expected, str) and self.what == _OBSERVATION
        expected = f"one with SHA-256 {self.expected[:12]}" if digest else _text(self.expected)
        return (
            f"survey {self.survey!r}, step {self.step} ({at}): {self.what} differs: expected "
            f"{expected}, found {_text(self.found)}"
        )


class Replay(NamedTuple):
    """What a replay found.

    Attributes:
        episodes: that were replayed, the one with the difference included.
        steps: alike.
        difference: the first one, or None if everything is equal.
        remarks: sentences on what is not as it was, without being a difference.
    """

    episodes: int
    steps: int
    difference: Difference | None
    remarks: list[str]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        found = self.difference
        return {
            "equal": found is None,
            "episodes": self.episodes,
            "steps": self.steps,
            "difference": None if found is None else found._asdict(),
            "remarks": self.remarks,
        }


def replay(run: str | Path, corpus: Corpus | str | Path) -> Replay:
    """Carry out the actions of a run again, in a fresh environment, and compare everything.

    Compared are the seed and the observation after the reset; of every step the observation, the
    error that it told, the reward, its terms, and whether the episode ended and how; at the end
    what was spent, the metrics and what was handed in. It stops at the first difference.

    Args:
        run: the directory of a run, finished or not; an incomplete last line is passed over.
        corpus: the corpus that it was run with, or its directory.

    Returns:
        The report. Other code or another version is remarked on; it is no difference by itself.

    Raises:
        CorpusError: if `run` holds no run or a damaged one, or corpus, index or task set differ
            from the run's.
        DataError: if a line of the trajectories is no episode of the run.
    """
    opened_run = OpenedRun(run)
    corpus = Corpus.of(corpus)
    tasks = TaskSet(corpus.directory)
    opened_run.refuse_other({"corpus": corpus.sha256, "tasks": tasks.sha256})
    arguments, surveys = opened_run.arguments(), opened_run.manifest["surveys"]
    env = environment.make_environment(opened_run.task, corpus, surveys, arguments)
    with closing(env):
        now = environment.hashes(env, corpus, tasks, arguments)
        code = now.pop("environment")
        opened_run.refuse_other(now)
        episodes = steps = 0
        difference = None
        bar = progress(opened_run.episodes(), total=len(surveys), desc="replay", unit="survey")
        for record in bar:
            difference, done = _replay_episode(env, record, opened_run.manifest["seed"])
            episodes, steps = episodes + 1, steps + done
            if difference is not None:
                break
    remarks = [] if difference else opened_run.remarks(episodes)
    remarks += _other_code(opened_run.manifest, code)
    if opened_run.manifest.get("encoder") != plain(environment.encoder_of(arguments)):
        remarks.append("The encoder of headings, or a library behind it, is another than then.")
    return Replay(episodes, steps, difference, remarks)


def _replay_episode(
    env: gymnasium.Env[Any, Any], record: dict[str, Any], seed: int
) -> tuple[Difference | None, int]:
    """Return the first difference in an episode, if any, and the number of steps made."""
    survey, steps = record["survey"], record["steps"]
    own_seed = episode_seed(seed, survey)
    if record["seed"] != own_seed:
        return Difference(survey, 0, None, "the seed", record["seed"], own_seed), 0
    observation, info = env.reset(seed=own_seed, options={"survey": survey})
    budget = observation["budget"]
    expected = record["observation_sha256"]
    if sha256_json(observation) != expected:
        return Difference(survey, 0, None, _OBSERVATION, expected, observation), 0
    for number, step in enumerate(steps, 1):
        action = step["action"]
        try:
            restored = restore_action(action)
        except DataError as error:
            raise DataError(f"survey {survey!r}, step {number}: {error}") from None
        observation, reward, terminated, truncated, info = env.step(restored)
        last = number == len(steps)
        pairs: list[tuple[str, Any, Any]] = [
            ("the error", step.get("error"), error_in(observation)),
            ("the reward", step["reward"], reward),
            ("the reward terms", step["reward_terms"], info["reward_terms"]),
            ("terminated", last and not record["truncated"], terminated),
            ("truncated", last and record["truncated"], truncated),
        ]
        if last:
            left = observation["budget"]
            spent = {name: budget[name] - left[name] for name in budget}
            pairs.append(("what was spent", record["spent"], spent))
            pairs += [(what, record[what], info.get(what)) for what in ("metrics", "answers")]
        if sha256_json(observation) != step["observation_sha256"]:
            before = {"error": step["error"]} if "error" in step else step["observation_sha256"]
            return Difference(survey, number, action, _OBSERVATION, before, observation), number
        for what, then, now in pairs:
            if then != plain(now):
                return Difference(survey, number, action, what, then, now), number
    return None, len(steps)


def _other_code(manifest: dict[str, Any], code: str) -> list[str]:
    told = []
    if manifest["arena"] != __version__:
        told.append(f"The run was made by version {manifest['arena']}, this is {__version__}.")
    if manifest["sha256"].get("environment") != code:
        told.append("The code of the environment is not that of the run.")
    return told


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
