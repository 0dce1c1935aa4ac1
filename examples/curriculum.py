"""Recall on unseen topics against episodes of training: one sampler of topics beside another.

    python examples/curriculum.py --train synthetic:seed=1001,papers=1000,surveys=20 \
        synthetic:seed=1002,papers=1000,surveys=20 --test synthetic:seed=2001,papers=1000,surveys=40

The learner is that of discrete.py. It prints a line of JSON for each sampler and seed: the mean
recall@100 on the test topics after each `--every` updates.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import gymnasium
from discrete import Chooser, Policy, Queries, learn

import arena

GROUP, TOPICS = 4, 8  # episodes of a topic, and topics, of an update


class Groups(Queries):
    """An environment whose resets with one seed play one topic.

    A sampler that learns would else draw another topic for the later episodes of a group.
    """

    _seed: int | None = None
    _topic = ""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Draw a topic with a new seed, or play the one that this seed has drawn."""
        if seed is not None and seed == self._seed:
            return super().reset(options={"topic_id": self._topic})
        features, info = super().reset(seed=seed, options=options)
        self._seed, self._topic = seed, info["topic_id"]
        return features, info


class Trained(Chooser):
    """`Chooser` with a policy in memory."""

    def __init__(self, policy: Policy, seed: int = 0) -> None:
        super().__init__(seed)
        self._policy = policy


def curve(sampler: str, seed: int, given: argparse.Namespace) -> list[float]:
    """Return the mean recall@100 on the test topics after each `every` updates."""
    env, found = Groups(corpus=given.train, sampler=sampler), list[float]()
    test = gymnasium.make("arena/Discovery-v0", corpus=given.test)

    def report(update: int, _: float, policy: Policy) -> None:
        if update % given.every == given.every - 1:
            played = [*arena.rollouts(Trained, test, agent_options={"policy": policy}, seed=0)]
            scores = [each.metrics["recall@100"] for each in played]
            found.append(round(sum(scores) / len(scores), 4))

    learn({"all": env}, seed, given.updates, GROUP, TOPICS, report=report)
    return found


def main() -> None:
    """Train with each sampler and seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--train", nargs="+", required=True, help="corpora to train on")
    parser.add_argument("--test", nargs="+", required=True, help="corpora to test on")
    parser.add_argument("--samplers", nargs="+", default=["uniform", "frontier"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--updates", type=int, default=40, help=f"of {GROUP * TOPICS} episodes")
    parser.add_argument("--every", type=int, default=4, help="updates between two tests")
    given = parser.parse_args()
    for seed in given.seeds:
        for sampler in given.samplers:
            found = curve(sampler, seed, given)
            print(json.dumps({"sampler": sampler, "seed": seed, "recall": found}), flush=True)


if __name__ == "__main__":
    main()
