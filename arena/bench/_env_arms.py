"""What `arena bench env` times: kinds of environments, and the search alone."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import arena
from arena._internal.signals import deaf_to_interrupts

ENVIRONMENT = "arena/Discovery-v0"
BUDGET: dict[str, Any] = {"max_steps": 10**6, "max_searches": 10**6, "max_characters": 10**9}
"""So large that no episode ends while it is timed."""


def make(corpus: arena.Corpus, retriever: str) -> Any:
    """Return a scalar environment."""
    return gymnasium.make(ENVIRONMENT, corpus=corpus, retriever=retriever, max_k=1000, **BUDGET)


def make_vector(
    corpus: arena.Corpus, retriever: str, num_envs: int, mode: str | None, options: dict[str, Any]
) -> Any:
    """Return our vector environment, or with a `mode` one of Gymnasium's with `options`."""
    with deaf_to_interrupts():
        return gymnasium.make_vec(
            ENVIRONMENT,
            num_envs=num_envs,
            vectorization_mode=mode,
            vector_kwargs=options if mode else None,
            corpus=corpus,
            retriever=retriever,
            max_k=1000,
            **BUDGET,
        )


class Time(NamedTuple):
    """What a search took, in seconds: on the clock, and of all processors; None if not known."""

    wall: float
    cpu: float | None


class Arm(ABC):
    """One way to make searches.

    Attributes:
        name: in the results.
        batch: searches that are made together, or environments that step together.
        processes: that search.
        characters: of the observations of a round, their mean, once there was one.
    """

    def __init__(self, name: str, env: Any, processes: int = 1) -> None:
        self._env = env
        self._is_vector = isinstance(env, gymnasium.vector.VectorEnv)
        self.name, self.processes = name, processes
        self.batch = env.num_envs if self._is_vector else 1
        self.characters: float | None = None

    def time(self, queries: Iterator[str], searches: int, k: int, seed: int) -> Time:
        """Return what a search takes when at least so many are made.

        Args:
            queries: the next ones are taken; none comes back.
            searches: rounded up to whole batches.
            k: hits of a search.
            seed: of the surveys, whose dates are the cutoffs.
        """
        batches = [
            [next(queries) for _ in range(self.batch)] for _ in range(-(-searches // self.batch))
        ]
        work = self._begin(batches, k, seed)
        cpu, started = self._cpu(), time.perf_counter()
        last = self._carry_out(work)
        wall, after = time.perf_counter() - started, self._cpu()
        self.characters = self._shown(last, len(batches))
        made = len(batches) * self.batch
        return Time(wall / made, None if cpu is None or after is None else (after - cpu) / made)

    def _cpu(self) -> float | None:
        """Return the CPU seconds of this process and of those that the environment has started."""
        total = time.process_time()
        for process in self._processes:
            try:  # Linux: nanoseconds first, of each thread
                tasks = list(Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
                total += sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9
            except (OSError, ValueError, IndexError):
                tasks = []
            if not tasks:
                return None
        return total

    @property
    def _processes(self) -> Sequence[Any]:
        """Those that the environment has started."""
        return getattr(self._env, "processes", ())

    def close(self) -> None:
        """Close the environment, which ends its processes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # if interrupted in a step, that it was in one
            # To wait for a step that was interrupted might be to wait for ever.
            self._env.close(**({} if self.processes == 1 else {"terminate": True}))

    @abstractmethod
    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        """Make everything ready."""

    @abstractmethod
    def _carry_out(self, work: Any) -> Any:
        """Do what is timed."""

    def _shown(self, last: Any, steps: int) -> float | None:
        """Return the mean number of characters of the observations, if there were any."""
        return None


class SearchArm(Arm):
    """The search alone, through the views that episodes have."""

    def __init__(self, name: str, batch: int, corpus: arena.Corpus, retriever: str) -> None:
        super().__init__(name, make_vector(corpus, retriever, batch, None, {}))
        self._corpus, self._engine = corpus, corpus.retriever(retriever)

    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        observation, infos = self._env.reset(seed=seed)
        views = [
            self._corpus.at(cutoff, exclude=[survey], retriever=self._engine)
            for cutoff, survey in zip(observation["cutoff"], infos["survey"], strict=True)
        ]
        return [
            [(view, query, k) for view, query in zip(views, batch, strict=True)]
            for batch in batches
        ]

    def _carry_out(self, work: Any) -> None:
        if self.batch == 1:
            for ((view, query, k),) in work:
                view.search(query, k)
        else:
            for searches in work:
                arena.search_batch(searches)


class StepArm(Arm):
    """Steps of an environment, each of which searches."""

    def _begin(self, batches: Sequence[list[str]], k: int, seed: int) -> Any:
        self._env.reset(seed=seed)
        actions = [
            [{"tool": "search", "arguments": {"query": query, "k": k}} for query in batch]
            for batch in batches
        ]
        return actions if self._is_vector else [action for (action,) in actions]

    def _carry_out(self, work: Any) -> Any:
        step = self._env.step
        for actions in work:
            last = step(actions)
        return last

    def _shown(self, last: Any, steps: int) -> float:
        left = last[0]["budget"]["characters"]
        return float(BUDGET["max_characters"] - np.mean(left)) / steps
