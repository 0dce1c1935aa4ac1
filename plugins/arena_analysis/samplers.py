"""Samplers that learn where a learner is: topics of the right difficulty, from easy to hard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Interval

from arena.errors import DataError
from arena.kit.files import read_json, schema_error, write_json
from arena.kit.workdir import exclusive_lock
from arena.samplers import Drawn, Sampler, sampler

_PATIENCE = 60.0  # seconds that a worker waits for another one that writes the state


def _are_scores(value: object) -> bool:
    return isinstance(value, list) and all(type(score) in (int, float) for score in value)


class _Remembering(Sampler):
    """A sampler whose memory may be a file, which several workers share and a restart continues.

    The memory is ``{"topics": {topic: [score, ...]}, "episodes": N}``; topics are called by the
    hash of their task set and their id, so that one file serves several corpora.
    """

    def __init__(self, state: str | None, window: int) -> None:
        self._state, self._window = None if state is None else Path(state), window
        self.memory: dict[str, Any] = {"topics": {}, "episodes": 0}
        self._lock = Lock()
        self._read()  # a file of something else is refused now

    def open(self, topics: Mapping[str, Drawn]) -> None:
        super().open(topics)
        self._keys = {s: f"{each.tasks.sha256[:16]}/{each.topic_id}" for s, each in topics.items()}

    def _read(self) -> dict[str, Any]:
        if self._state is None or not self._state.exists():
            return self.memory
        with suppress(ValueError, OSError):  # a directory is none, either
            memory: dict[str, Any] = read_json(self._state)
            wrong = schema_error(memory, {"topics": Mapping, "episodes": int})
            if wrong is None and all(map(_are_scores, memory["topics"].values())):
                return memory
        raise DataError(f"{str(self._state)!r} is no state of a sampler. Name another file.")

    def ended(self, topic_id: str, score: float) -> None:
        """Add the score to the last ones of its topic; no other worker changes them meanwhile."""
        lock: AbstractContextManager[object] = self._lock
        if self._state is not None:
            self._state.parent.mkdir(parents=True, exist_ok=True)
            name = f".{self._state.name}.lock"
            lock = exclusive_lock(self._state.with_name(name), self._state, _PATIENCE)
        with lock:
            memory, key = self._read(), self._keys.get(topic_id, topic_id)
            memory["topics"][key] = [*memory["topics"].get(key, []), score][-self._window :]
            memory["episodes"] += 1
            if self._state is not None:
                write_json(self._state, memory)


@sampler("frontier")
class Frontier(_Remembering):
    """Draws topics whose recent success is neither 0 nor 1, and those not known yet.

    An episode succeeds where its headline is at least `success`. A topic is on the frontier while
    it has fewer than `window` results, or some of the last `window` are successes and some are not:
    a group of episodes of any other topic has equal rewards to learn from. Of every draw a share
    `explore` is of all topics, so that what was always or never solved is tried again.

    Args:
        state: JSON file that workers share, and that a restart continues; by default a memory of
            this process.
        window: Results of a topic that count, the last ones.
        success: Headline of a successful episode; by default the median of all results that count.
        explore: Share of the draws that are of all topics.
    """

    def __init__(
        self,
        state: str | None = None,
        window: Annotated[int, Ge(2)] = 8,
        success: float | None = None,
        explore: Annotated[float, Interval(ge=0, le=1)] = 0.1,
    ) -> None:
        super().__init__(state, window)
        self._success, self._explore = success, explore

    def frontier(self) -> list[str]:
        """Return the environment's ids of the topics on the frontier, in order."""
        known: dict[str, list[float]] = dict(self._read()["topics"])
        recent = {s: known.get(key, [])[-self._window :] for s, key in self._keys.items()}
        scores = [score for each in recent.values() for score in each]
        bound = median(scores or [0.0]) if self._success is None else self._success
        return [
            topic_id
            for topic_id, results in recent.items()
            if len(results) < self._window
            or 0 < sum(score >= bound for score in results) < len(results)
        ]

    def draw(self, rng: np.random.Generator) -> str:
        """Return a topic of the frontier, or any if none is on it."""
        pool = self.pool
        if rng.random() >= self._explore:
            pool = self.frontier() or pool
        return pool[int(rng.integers(len(pool)))]


@sampler("by_difficulty")
class ByDifficulty(_Remembering):
    """Draws the easiest topics first, and more and more of the others.

    Difficulty is a column of the profile of the corpus, ``arena profile``. After t of `episodes` T
    the draws are of the easiest share c(t) = sqrt(t (1 - c0^2) / T + c0^2) of the topics, with c0
    = `start` (Platanios et al. 2019, "Competence-based Curriculum Learning for Neural Machine
    Translation", equation 7).

    Args:
        column: A column of the profile of which more is easier, such as title; or with a minus, of
            which less is, such as -links.
        episodes: Episodes after which all topics are drawn.
        start: Share of the topics that the first draws are of.
        state: As of frontier.
    """

    def __init__(
        self,
        column: str = "title",
        episodes: Annotated[int, Gt(0)] = 1000,
        start: Annotated[float, Interval(gt=0, le=1)] = 0.2,
        state: str | None = None,
    ) -> None:
        super().__init__(state, window=1)
        self._column, self._episodes, self._start = column, episodes, start

    def open(self, topics: Mapping[str, Drawn]) -> None:
        """Order the topics by the profiles of their corpora; those of unknown difficulty last."""
        super().open(topics)
        sign, column = -1.0, self._column
        if column.startswith("-"):
            sign, column = 1.0, column[1:]
        sets = {each.tasks.sha256: each.tasks for each in topics.values()}
        columns = {sha: tasks.profile().column(column) for sha, tasks in sets.items()}
        values = {s: columns[tasks.sha256].get(own) for s, (tasks, own) in topics.items()}
        self._hard = {s: math.inf if v is None else sign * v for s, v in values.items()}
        self.pool.sort(key=self._hard.__getitem__)

    def draw(self, rng: np.random.Generator) -> str:
        """Return one of the easiest topics, as many as are due, and those as easy as they."""
        done = min(1.0, self._read()["episodes"] / self._episodes)
        share = math.sqrt(done * (1 - self._start**2) + self._start**2)
        hardest = self._hard[self.pool[math.ceil(share * len(self.pool)) - 1]]
        easy = [topic_id for topic_id in self.pool if self._hard[topic_id] <= hardest]
        return easy[int(rng.integers(len(easy)))]
