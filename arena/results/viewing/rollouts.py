"""Rollouts that an integration recorded, played again as runs; docs/integrations.md."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena.agents import Agent
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import DataError
from arena.runs.runner import run
from arena.session import ROLLOUTS

MOST = 5
"""Rollouts of a topic that are played again: the last ones."""


class RolloutPlayer(Agent):
    """Takes the actions of a rollout, and finishes where they end."""

    rollouts: ClassVar[Mapping[tuple[str, str], list[Any]]]

    def act(self, observation: Any) -> Any:
        """Return the next action of the rollout with this topic and cutoff."""
        actions = self.rollouts[observation["topic"], observation["cutoff"]]
        self._taken = getattr(self, "_taken", -1) + 1
        finish = {"tool": "finish", "arguments": {}}
        return actions[self._taken] if self._taken < len(actions) else finish


def is_recorded(folder: str | Path) -> bool:
    """Return whether an integration records its episodes in a folder."""
    return (Path(folder) / ROLLOUTS).is_file()


def runs_of(given: Sequence[str], corpus: Corpus | None) -> list[str]:
    """Return runs as they are given; in the place of a folder of rollouts, these as runs."""
    if corpus is None:
        if any(map(is_recorded, given)):
            raise DataError("rollouts are played again: name their --corpus.")
        return [*given]
    return [
        str(run)
        for each in given
        for run in (play_rollouts(each, corpus) if is_recorded(each) else [each])
    ]


def play_rollouts(folder: str | Path, corpus: Corpus) -> list[Path]:
    """Play the last rollouts of each topic again, the n-th of all as a run; return the runs.

    The runs are written into `folder`. They have scores, which a rollout lacks.
    """
    folder, kept = Path(folder), defaultdict[tuple[str, str], list[dict[str, Any]]](list)
    lines = (folder / ROLLOUTS).read_text("utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):  # it is being written
            break
        try:
            rollout = json.loads(line)
            played = json.dumps([rollout["task"], rollout["settings"]], sort_keys=True)
            kept[played, rollout["topic_id"]].append(rollout)
        except (ValueError, LookupError, TypeError):
            where = f"{str(folder / ROLLOUTS)!r} line {number}"
            raise DataError(f"{where} is not a rollout. Delete the line.") from None
    runs = defaultdict[tuple[str, int], list[dict[str, Any]]](list)
    for (played, _), rollouts in kept.items():
        for number, rollout in enumerate(rollouts[-MOST:]):
            runs[played, number].append(rollout)
    made = []
    for place, ((played, _), rollouts) in enumerate(runs.items(), 1):
        actions = {(each["topic"], each["cutoff"]): each["actions"] for each in rollouts}
        agent = type("Recorded", (RolloutPlayer,), {"rollouts": actions})
        task, settings = json.loads(played)
        topics = [each["topic_id"] for each in rollouts]
        made.append(folder / f"rollout-{place}")
        config = EnvConfig.from_settings(task, settings)
        run(corpus, config, agent, made[-1], topics=topics, overwrite=True)
    return made
