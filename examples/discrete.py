"""A literature search in numbers: which query next? Actions are Discrete, observations a Box.

    python examples/discrete.py --corpus DIR --test OTHER_DIR --weights weights.npz
    arena run --corpus OTHER_DIR --agent examples/discrete.py:Chooser \
        --agent-option weights=weights.npz

An episode searches for the topic, then `QUERIES` times for one of at most `CANDIDATES` phrases of
the papers seen, lists the references of the best papers after each search, and submits 100 papers.
`Queries` is the environment for learners of numbers (examples/ppo.py, Stable-Baselines3), `Chooser`
the agent with the same eyes, and `learn` a policy gradient in numpy with a leave-one-out baseline
(Kool et al. 2019, "Buy 4 REINFORCE Samples, Get a Baseline for Free!").
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

import arena
from arena.agents import Action, Agent, Observation, result_of
from arena.errors import ArenaError
from arena.text import STOP_WORDS, analyze, tokenize

QUERIES, CANDIDATES, EXPANDED, SUBMITTED = 6, 32, 3, 100
FEATURES = (
    "there", "papers", "top papers", "of the first search", "cited", "share of score", "mean score",
    "two words", "three words", "in the topic", "in past queries", "round",
)  # fmt: skip
"""Columns of the observation; rows without a phrase are zero."""
_STOPS = {*STOP_WORDS, *tokenize("using via from new how what can our more than between towards")}
Policy = dict[str, NDArray[np.float64]]


@lru_cache(maxsize=100_000)
def phrases(text: str) -> tuple[str, ...]:
    """Return the runs of one to three words between stop words and punctuation, each once."""
    found: dict[str, None] = {}
    for part in re.split(r"[^\w\s'’-]", text):
        words = [w if w not in _STOPS and len(w) > 1 else "" for w in tokenize(part)]
        for start in range(len(words)):
            for end in range(start + 1, min(start + 3, len(words)) + 1):
                if not all(words[start:end]):
                    break
                found[" ".join(words[start:end])] = None
    return tuple(found)


class Notes:
    """Keeps what an episode has shown, and plans the calls that need no choice.

    When a query is to be chosen, `texts` has the phrases and `features` their numbers, of shape
    (CANDIDATES, len(FEATURES)).
    """

    def __init__(self, topic: str) -> None:
        self.queries = [topic]
        self.scores: dict[str, float] = {}  # of each paper: ranks in searches, and citations
        self.cited: dict[str, int] = {}
        self._phrases: dict[str, int] = {}
        self._pairs: list[tuple[int, int]] = []  # a paper and a phrase of its title, by number
        self._first: set[str] = set()
        self._plan: list[Action] = [{"tool": "search", "arguments": {"query": topic, "k": 100}}]
        self._expanded: set[str] = set()
        self.texts: list[str] = []
        self.features = np.zeros((CANDIDATES, len(FEATURES)), np.float32)

    def next(self, observation: Observation) -> Action | None:
        """Take in an observation; return the next call, or None where a query is to be chosen."""
        result, budget = result_of(observation), observation["budget"]
        papers = result.get("hits", []) + result.get("references", [])
        for place, paper in enumerate(papers):
            name = paper["id"]
            if name not in self.scores:
                numbers = [
                    self._phrases.setdefault(p, len(self._phrases)) for p in phrases(paper["title"])
                ]
                self._pairs += [(len(self.scores), number) for number in numbers]
            worth = 20 / (20 + place) if "hits" in result else 0.3
            self.scores[name] = self.scores.get(name, 0.0) + worth
            self.cited[name] = self.cited.get(name, 0) + ("references" in result)
        if "hits" in result:
            self._first |= {p["id"] for p in papers[:20]} if len(self.queries) == 1 else set()
            best = [p for p in self.ranking() if p not in self._expanded][:EXPANDED]
            self._expanded |= {*best}
            self._plan += [{"tool": "references", "arguments": {"paper_id": p}} for p in best]
        left = budget["steps"] > 1 and budget["reads"] and budget["searches"]
        if self._plan and left:
            return self._plan.pop(0)
        self.texts, self.features = self._candidates()
        if left and len(self.queries) <= QUERIES and self.texts:
            return None
        return {"tool": "submit", "arguments": {"paper_ids": self.ranking()[:SUBMITTED]}}

    def search(self, choice: int) -> Action:
        """Return the search for a candidate; a number beyond them counts from the first again."""
        self.queries.append(self.texts[choice % len(self.texts)])
        return {"tool": "search", "arguments": {"query": self.queries[-1], "k": 100}}

    def ranking(self) -> list[str]:
        """Return ids of papers, the best first, of equals the one met first."""
        return sorted(self.scores, key=lambda paper: -self.scores[paper])

    def _candidates(self) -> tuple[list[str], NDArray[np.float32]]:
        """Return phrases to search for, and features of shape (CANDIDATES, len(FEATURES))."""
        top, papers = {*self.ranking()[:30]}, self.scores
        columns = [
            [1] * len(papers), [p in top for p in papers], [p in self._first for p in papers],
            [self.cited[p] for p in papers], [*papers.values()],
        ]  # fmt: skip
        table, pairs = np.array(columns, float).T, np.array(self._pairs, int).reshape(-1, 2)
        added = np.zeros((len(self._phrases), len(columns)))
        np.add.at(added, pairs[:, 1], table[pairs[:, 0]])
        sums = dict(zip(self._phrases, added.tolist(), strict=True))
        used = [{*analyze(query)} for query in self.queries]
        usable = [p for p, s in sums.items() if p not in self.queries and (s[0] > 1 or s[1])]
        usable.sort(key=lambda p: (-sums[p][4] * (1 + p.count(" ")), p))
        features = np.zeros((CANDIDATES, len(FEATURES)), np.float32)
        total = sum(self.scores.values()) or 1.0
        for row, phrase in zip(features, usable, strict=False):
            terms, (n, high, first, cited, score) = {*analyze(phrase)}, sums[phrase]
            size = max(1, len(terms))
            row[:] = [
                1, np.log1p(n), np.log1p(high), np.log1p(first), np.log1p(cited),
                10 * score / total, score / n, phrase.count(" ") == 1, phrase.count(" ") == 2,
                len(terms & used[0]) / size, len(terms & set().union(*used)) / size,
                len(self.queries) / QUERIES,
            ]  # fmt: skip
        return usable[:CANDIDATES], features


class Queries(gymnasium.Env[NDArray[np.float32], np.int64]):
    """`arena/Discovery-v0` as numbers; `options` are its arguments, such as ``corpus``."""

    observation_space = Box(-np.inf, np.inf, (CANDIDATES, len(FEATURES)), np.float32)
    action_space = Discrete(CANDIDATES)

    def __init__(self, **options: Any) -> None:
        self.env = gymnasium.make("arena/Discovery-v0", **options)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode, up to the first choice."""
        super().reset(seed=seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._notes = Notes(observation["topic"])
        self._played(self._notes.next(observation), info)
        return self._notes.features, info

    def step(self, action: np.int64 | int) -> Any:
        """Search for a candidate; return what the environment paid up to the next choice."""
        reward, terminated, truncated, info = self._played(self._notes.search(int(action)), {})
        return self._notes.features, reward, terminated, truncated, info

    def _played(self, call: Action | None, info: dict[str, Any]) -> Any:
        earned, terminated, truncated = 0.0, False, False
        while call is not None and not (terminated or truncated):
            observation, reward, terminated, truncated, info = self.env.step(call)
            earned += float(reward)
            call = self._notes.next(observation)
        return earned, terminated, truncated, info

    def earned(self, rewards: list[float]) -> list[float]:
        """Return the rewards of an episode that is over; a subclass may share them out."""
        return rewards

    def close(self) -> None:
        """Close the environment inside."""
        self.env.close()


class Chooser(Agent):
    """Searches for the phrase that a policy rates best; without weights for random ones."""

    def __init__(self, seed: int = 0, weights: str | None = None) -> None:
        super().__init__(seed)
        self._policy = None if weights is None else dict(np.load(weights, allow_pickle=False))
        self._random = np.random.default_rng(seed)
        self._notes: Notes | None = None

    def act(self, observation: Observation) -> Action:
        """Do what needs no choice, or choose."""
        notes = self._notes = self._notes or Notes(observation["topic"])
        return notes.next(observation) or notes.search(self.choose(notes.features))

    def choose(self, features: NDArray[np.float32]) -> int:
        """Return the number of a candidate."""
        if self._policy is None:
            return int(self._random.integers(int(features[:, 0].sum())))
        return int(np.argmax(probabilities(self._policy, features)))


def probabilities(policy: Mapping[str, Any], features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the probability of each row, shape (CANDIDATES,); 0 without a phrase."""
    logits = np.tanh(features @ policy["w1"] + policy["b1"]) @ policy["w2"]
    odds = np.where(features[:, 0] > 0, np.exp(logits - logits.max()), 0.0)
    return odds / odds.sum()  # type: ignore[no-any-return]


def learn(
    envs: Mapping[str, Queries], seed: int = 0, updates: int = 60, group: int = 4, topics: int = 8,
    hidden: int = 16, rate: float = 0.02,
    report: Callable[[int, float, Policy], None] | None = None,
) -> Policy:  # fmt: skip
    """Return a policy that `updates` steps of Adam on the policy gradient have made.

    Each update plays `group` episodes of each of `topics` topics of one environment; an episode's
    advantage is its return minus the mean of the others on its topic. Rewards are paid at the end
    or before: what came after a choice counts for it.
    """
    rng, names = np.random.default_rng(seed), list(envs)
    policy = {
        "w1": rng.normal(0, 0.3, (len(FEATURES), hidden)),
        "b1": np.zeros(hidden),
        "w2": rng.normal(0, 0.3, hidden),
    }
    moments = {name: [np.zeros_like(value)] * 2 for name, value in policy.items()}
    for update in range(updates):
        env = envs[names[update % len(names)]]
        total, returns = {name: np.zeros_like(value) for name, value in policy.items()}, []
        for draw in rng.integers(2**31, size=topics).tolist():
            played = [_episode(env, policy, rng, draw) for _ in range(group)]
            sums = [sum(rewards) for _, rewards in played]
            returns += sums
            for chosen, rewards in played:
                to_go = np.cumsum(rewards[::-1])[::-1]
                others = [np.cumsum(r[::-1])[::-1] for c, r in played if r is not rewards]
                for place, (features, choice) in enumerate(chosen):
                    base = np.mean([r[place] if place < len(r) else 0.0 for r in others])
                    gradient = _gradient(policy, features, choice)
                    for name in policy:
                        total[name] += (to_go[place] - base) * gradient[name]
        for name, value in policy.items():
            step = total[name] / (topics * group)
            first, second = moments[name]
            moments[name] = [0.9 * first + 0.1 * step, 0.99 * second + 0.01 * step**2]
            first, second = moments[name]
            scale = (1 - 0.9 ** (update + 1)), (1 - 0.99 ** (update + 1))
            value += rate * (first / scale[0]) / (np.sqrt(second / scale[1]) + 1e-8)
        if report is not None:
            report(update, float(np.mean(returns)), policy)
    return policy


def _episode(env: Queries, policy: Policy, rng: np.random.Generator, seed: int) -> Any:
    """Play an episode with drawn choices; return them with their features, and the rewards."""
    features, _ = env.reset(seed=seed)
    chosen, rewards, over = [], list[float](), not features[:, 0].any()
    while not over:
        choice = int(rng.choice(CANDIDATES, p=probabilities(policy, features)))
        chosen.append((features, choice))
        features, reward, terminated, truncated, _ = env.step(choice)
        rewards.append(reward)
        over = terminated or truncated
    return chosen, env.earned(rewards)


def _gradient(policy: Policy, features: NDArray[np.float32], choice: int) -> Policy:
    """Return the gradient of the logarithm of a choice's probability."""
    hidden = np.tanh(features @ policy["w1"] + policy["b1"])
    of_logits = -probabilities(policy, features)
    of_logits[choice] += 1
    of_hidden = np.outer(of_logits, policy["w2"]) * (1 - hidden**2)
    return {"w1": features.T @ of_hidden, "b1": of_hidden.sum(0), "w2": of_logits @ hidden}


def evaluate(corpus: str, weights: str | None) -> float:
    """Return the mean recall@100 over the topics of a corpus."""
    with closing(gymnasium.make("arena/Discovery-v0", corpus=corpus)) as env:
        played = arena.rollouts(Chooser, env, agent_options={"weights": weights}, seed=0)
        return float(np.mean([each.metrics["recall@100"] for each in played]))


def main() -> None:
    """Train on some corpora, save the weights, and test on others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", nargs="+", required=True, help="directories to train on")
    parser.add_argument("--test", nargs="*", default=[], help="directories to test on")
    parser.add_argument("--weights", default="weights.npz", help="file to write")
    parser.add_argument("--reward", default="final", help="of training, such as gain+final")
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not Path(given.weights).parent.is_dir():
        parser.error(
            f"--weights {given.weights}: the folder {Path(given.weights).parent} is missing"
        )
    try:
        for path in given.test:
            arena.Corpus.open(path)  # or training would be over before it is missed
        envs = {path: Queries(corpus=path, reward=given.reward) for path in given.corpus}
    except ArenaError as error:
        parser.error(str(error))

    def report(update: int, reward: float, policy: Policy) -> None:
        print(f"update {update + 1} of {given.updates}: mean return {reward:.3f}", flush=True)

    policy = learn(envs, given.seed, given.updates, report=report)
    np.savez(given.weights, allow_pickle=False, **policy)
    for path in given.test:
        before, after = evaluate(path, None), evaluate(path, given.weights)
        print(f"{path}: recall@100 {before:.3f} with random phrases, {after:.3f} learned")


if __name__ == "__main__":
    main()
