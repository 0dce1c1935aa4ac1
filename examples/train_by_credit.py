"""Does the credit of each call teach more than the outcome? The learner of discrete.py, both ways.

    python examples/train_by_credit.py --corpus DIR DIR --test DIR DIR

A choice, a query, is followed by its search and the reference lists of three papers. Its credit is
the sum of theirs, which takes the place of all that the episode earned after the choice.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
from discrete import Chooser, Queries, learn
from numpy.typing import NDArray

import arena
from arena.credit import CREDITS
from arena.kit.terminal import Table
from arena.results.comparison.paired import bootstrap, fisher
from arena.tasks import TaskSet

WAYS = {"outcome": None, "script": "script", "shapley": "shapley"}
"""The reward of a choice: the rewards after it, or its credit; "A and B" is the sum of both."""


class Recorder(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps the actions of the episode."""

    def reset(self, **options: Any) -> Any:
        """Begin with none."""
        self.actions: list[Any] = []
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        """Carry out an action, and keep it."""
        self.actions.append(action)
        return super().step(action)


class CreditedQueries(Queries):
    """Queries whose choices are paid in one of the `WAYS`."""

    def __init__(self, corpus: str, way: str) -> None:
        super().__init__(corpus=corpus)
        self._inner: Any = self.env.unwrapped
        self.env = self._recorder = Recorder(self.env)
        self._way, self._tasks = way.split(" and "), TaskSet(corpus)

    def reset(self, **options: Any) -> Any:
        """Begin an episode."""
        self._starts: list[int] = []
        features, info = super().reset(**options)
        self._topic = info["topic_id"]
        return features, info

    def step(self, action: Any) -> Any:
        """Remember with which call the choice begins."""
        self._starts.append(len(self._recorder.actions))
        return super().step(action)

    def earned(self, rewards: list[float]) -> list[float]:
        """Return numbers that add up, from each choice on, to what it is paid."""
        paid = np.zeros(len(rewards))
        for way in self._way:
            if (name := WAYS[way]) is None:
                paid += np.cumsum(rewards[::-1])[::-1]
                continue
            calls = self._recorder.actions
            shares = CREDITS.get(name)(self._inner, self._tasks, self._topic, calls)
            shares[-1] = 0.0  # the submission, which no choice made
            paid += np.add.reduceat(shares, self._starts) if self._starts else 0.0
        return [*(paid - np.append(paid[1:], 0.0))]


def recalls(corpora: list[str], weights: str | None) -> NDArray[np.float64]:
    """Return recall@100 of each topic of some corpora."""
    found = list[float]()
    for corpus in corpora:
        with closing(gymnasium.make("arena/Discovery-v0", corpus=corpus)) as env:
            played = arena.rollouts(Chooser, env, agent_options={"weights": weights}, seed=0)
            found += [each.metrics["recall@100"] for each in played]
    return np.array(found)


def trained(way: str, corpora: list[str], test: list[str], seeds: int, updates: int) -> Any:
    """Return recall@100 of shape (seeds, topics of `test`) after learning in one of the ways."""
    found = []
    for seed in range(seeds):
        envs = {path: CreditedQueries(path, way) for path in corpora}
        with tempfile.TemporaryDirectory() as folder:
            policy = learn(envs, seed, updates)
            np.savez(f"{folder}/weights.npz", allow_pickle=False, **policy)
            found.append(recalls(test, f"{folder}/weights.npz"))
    return np.array(found)


def compared(found: Mapping[str, NDArray[np.float64]]) -> Table:
    """Return means of each way, and its difference from the first one, paired by topic."""
    rows = []
    for way, values in found.items():
        difference = (values - next(iter(found.values()))).mean(0)[:, None]  # over the seeds
        ((low, high),) = bootstrap(difference, 0.95)
        seeds = " ".join(f"{each:.4f}" for each in values.mean(1))
        row = [way, float(values.mean()), seeds, float(difference.mean()), low, high]
        rows.append([*row, fisher(difference)[0]])
    return Table(["paid", "recall@100", "seeds", "difference", "low", "high", "p"], rows)


def main() -> None:
    """Train in each way with each seed, and compare on unseen topics."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", nargs="+", required=True, help="directories to train on")
    parser.add_argument("--test", nargs="+", required=True, help="directories to test on")
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    before, found = recalls(given.test, None), {}
    for way in ("outcome", "script", "shapley", "outcome and script"):
        found[way] = trained(way, given.corpus, given.test, given.seeds, given.updates)
        print(f"{way}: {found[way].mean():.4f}", flush=True)
    print(f"random phrases: {before.mean():.4f}")
    print(compared(found).text(missing=""))


if __name__ == "__main__":
    main()
