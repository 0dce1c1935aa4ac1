"""Runs as a project of trackio, beside the runs of trainers; docs/trainers.md."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.lazy import load
from arena.kit.terminal import progress
from arena.llm.answers import clean
from arena.results.comparison.opening import name_runs, played_episode, split_name
from arena.results.messages import answers_by_step, open_answers
from arena.results.viewing.rollouts import runs_of
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep
from arena.runs.replaying import replay_episodes
from arena.session import Totals
from arena.telemetry import alarm, summary, telemetry
from arena_integrations._messages import conversation

_LISTS = ("topics", "files")  # of the manifest, which are long


def write_trackio(
    runs: Sequence[str],
    corpus: Corpus | str | Path,
    project: str,
    answers: str | Path | None = None,
) -> tuple[dict[str, int], str]:
    """Write runs into trackio's local store; return how many episodes of each, and the `alarm`.

    A step of a run is an episode, in the order of play and dated by its cutoff: its metrics, the
    sum of its rewards, what it spent, its `telemetry`, and as a trace its messages, without labels.
    The config is from the manifest. A run that the project has under the same name is replaced;
    nothing is sent. Raise CorpusError for a run that is of another corpus, or does not replay, and
    DataError if trackio is missing, or refuses the name of the project.
    """
    trackio = load("trackio", "writing a project of trackio")
    storage = load("trackio.sqlite_storage").SQLiteStorage
    try:
        storage.validate_project_name(project)
    except ValueError as error:
        raise DataError(f"--project: {error}") from None
    corpus, store = Corpus.resolve(corpus), open_answers(answers)
    given, directories = zip(*map(split_name, runs_of(runs, corpus)), strict=True)
    opened, written = [OpenedRun(directory) for directory in directories], {}
    played: list[Totals] = []
    for run in opened:
        run.open_corpus(corpus)
    for name, run in zip(name_runs(given, opened), opened, strict=True):
        logs: list[dict[str, Any]] = []
        days: list[str] = []
        for record, steps in progress(replay_episodes(run, corpus), desc=name, unit="episode"):
            first, reward = steps[0].observation, math.fsum(step.reward for step in steps)
            effort = dataclasses.asdict(played_episode(record, run).effort)
            values = {f"spent/{n}": v for n, v in effort.items() if n not in ("episodes", "models")}
            values |= record["metrics"] | {"reward": reward}
            played.append(_totals(record["topic_id"], steps, reward))
            values |= {f"telemetry/{n}": number for n, number in played[-1].telemetry.items()}
            trace = {
                "_type": trackio.Trace.TYPE,
                "messages": clean(conversation(steps, answers_by_step(record, store), True)),
                "metadata": {
                    "topic_id": record["topic_id"],
                    "cutoff": first["cutoff"],
                    "reward": reward,
                },
            }
            known = {name: value for name, value in values.items() if value is not None}
            logs.append(known | {"episode": trace})
            days.append(f"{first['cutoff']}T00:00:00+00:00")
        storage.delete_run(project, name)
        places = [*range(1, len(logs) + 1)]
        config = {key: run.manifest[key] for key in run.manifest if key not in _LISTS}
        ids = [f"{name}:{place}" for place in places]  # else they are random
        storage.bulk_log(project, name, logs, places, days, config, ids)
        written[name] = len(logs)
    return written, alarm(summary(played)) if played else ""


def _totals(topic_id: str, steps: Sequence[PlayedStep], reward: float) -> Totals:
    left = [step.observation["budget"] for step in (steps[0], steps[-1])]
    numbers = telemetry(
        [step.action for step in steps[1:]],
        [step.observation["result"].startswith('{"error":') for step in steps[1:]],
        left[0]["characters"] - left[1]["characters"],
    )
    why = steps[-1].info.get("termination", "")
    return Totals(topic_id, len(steps) - 1, reward, {}, {}, left[1], True, True, why, numbers)
