"""Training: policy gradient with a leave-one-out baseline and PPO's clipped objective.

Several environments play the same survey; what an episode earned after a choice is compared with
what the others earned after the same round (RLOO: Kool et al. 2019, "Buy 4 REINFORCE Samples, Get a
Baseline for Free!"). The step on it is clipped as in PPO (Schulman et al. 2017, equation 7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from arena.corpus import Corpus
from arena.tasks import TaskSet
from reformulation.agent import FEATURES, Choice, Policy, Reformulation

ENVIRONMENT = "arena/Discovery-v0"
REWARD = "gain+final"


class Knobs(NamedTuple):
    """The knobs of training."""

    episodes: int = 1600
    surveys: int = 8
    """Surveys of an update."""
    repeats: int = 4
    """Episodes of each of them, >= 2."""
    hidden: int = 32
    learning_rate: float = 3e-3
    entropy: float = 0.01
    epochs: int = 4
    clip: float = 0.2

    @property
    def updates(self) -> int:
        """How many updates the episodes make, >= 1."""
        return max(1, self.episodes // (self.surveys * self.repeats))


class Learner(nn.Module):
    """The network of `Policy`, for torch."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(len(FEATURES), hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 1, bias=False)  # a softmax does not see a bias

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores of the candidates: (..., candidates, features) -> (..., candidates)."""
        hidden = torch.tanh(self.second(torch.tanh(self.first(features))))
        scores: torch.Tensor = self.last(hidden)
        return scores.squeeze(-1)

    def policy(self) -> Policy:
        """Return the weights as the agent takes them."""
        with torch.no_grad():
            tensors = (
                self.first.weight.T, self.first.bias, self.second.weight.T, self.second.bias,
                self.last.weight[0],
            )  # fmt: skip
            return Policy(*(np.array(tensor.numpy(), np.float64) for tensor in tensors))


class Rollout(NamedTuple):
    """What one episode chose, and what it earned after each choice until the end."""

    choices: list[Choice]
    returns: list[float]


def play(env: Any, policy: Policy, seeds: Sequence[int], agent_seed: int) -> list[Rollout]:
    """Play one episode in each environment of a vector and return them.

    Args:
        env: the vector environment.
        policy: draws the queries.
        seeds: of the environments; equal seeds draw the same survey.
        agent_seed: the agents draw their queries with this seed and those after it.
    """
    agents = [
        Reformulation(seed=agent_seed + number, policy=policy, explore=True)
        for number in range(len(seeds))
    ]
    earned: list[list[float]] = [[] for _ in agents]
    running = np.ones(len(agents), np.bool_)
    observations, _ = env.reset(seed=list(seeds))
    while running.any():
        actions = [
            # The action with which an environment begins again is ignored.
            agent.act(_one(observations, number)) if running[number] else {"tool": "finish"}
            for number, agent in enumerate(agents)
        ]
        observations, rewards, terminated, truncated, _ = env.step(actions)
        for number in np.flatnonzero(running):
            for _ in range(len(agents[number].choices) - len(earned[number])):
                earned[number].append(0.0)
            if earned[number]:  # what comes before the first choice is nobody's merit
                earned[number][-1] += float(rewards[number])
        running &= ~(terminated | truncated)
    return [
        Rollout(agent.choices, np.cumsum(rewards[::-1])[::-1].tolist())
        for agent, rewards in zip(agents, earned, strict=True)
    ]


def _one(observations: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the observation of one environment of a vector."""
    return {
        name: _one(value, number) if isinstance(value, dict) else value[number]
        for name, value in observations.items()
    }


def advantages(returns: Sequence[Sequence[float]]) -> list[NDArray[np.float64]]:
    """Return by how much each episode of one survey beats the mean of the others, by round.

    >>> [array.tolist() for array in advantages([[1.0, 0.5], [0.0], [0.5, 0.0]])]
    [[0.75, 0.5], [-0.75], [0.0, -0.5]]
    """
    rounds = max(map(len, returns))
    table = np.full((len(returns), rounds), np.nan)
    for row, values in zip(table, returns, strict=True):
        row[: len(values)] = values
    there = ~np.isnan(table)
    others = there.sum(0) - there
    total = np.nansum(table, axis=0) - np.where(there, table, 0.0)
    gained = np.where(others > 0, table - total / np.maximum(others, 1), 0.0)
    return [row[: len(values)] for row, values in zip(gained, returns, strict=True)]


def update(
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    choices: Sequence[Choice],
    gained: NDArray[np.float64],
    settings: Knobs,
) -> None:
    """Make the choices that gained more likely, the others less.

    Args:
        learner: changed in place.
        optimizer: of its parameters.
        choices: as they were made.
        gained: the advantage of each, shape (choices,).
        settings: the knobs.
    """
    widest = max(len(choice.features) for choice in choices)
    features = torch.zeros(len(choices), widest, len(FEATURES))
    missing = torch.ones(len(choices), widest, dtype=torch.bool)
    for number, choice in enumerate(choices):
        features[number, : len(choice.features)] = torch.from_numpy(choice.features)
        missing[number, : len(choice.features)] = False
    chosen = torch.tensor([choice.chosen for choice in choices])[:, None]
    before = torch.tensor([choice.log_probability for choice in choices], dtype=torch.float32)
    gain = torch.from_numpy((gained / (gained.std() + 1e-8)).astype(np.float32))
    for _ in range(settings.epochs):
        logs = torch.log_softmax(learner(features).masked_fill(missing, -1e9), dim=1)
        ratio = (logs.gather(1, chosen)[:, 0] - before).exp()
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        entropy = -(logs.exp() * logs.masked_fill(missing, 0.0)).sum(1).mean()
        loss = -torch.min(ratio * gain, clipped * gain).mean() - settings.entropy * entropy
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def train(corpora: Sequence[Corpus], seed: int, settings: Knobs) -> Iterator[tuple[int, Policy]]:
    """Yield (episodes played, policy), first before any, then after every update.

    The same arguments give the same policies; torch uses one thread.

    Args:
        corpora: the worlds to learn on, with the tasks to play, one an update in turn.
        seed: of the network, the surveys drawn and the queries drawn.
        settings: the knobs.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    learner = Learner(settings.hidden)
    optimizer = torch.optim.Adam(learner.parameters(), settings.learning_rate)
    generator = np.random.default_rng(seed)
    count = settings.surveys * settings.repeats
    environments: dict[Corpus, Any] = {}
    yield 0, learner.policy()
    with ExitStack() as stack:
        for number in range(settings.updates):
            corpus = corpora[number % len(corpora)]
            if corpus not in environments:
                env = gymnasium.make_vec(ENVIRONMENT, num_envs=count, corpus=corpus, reward=REWARD)
                environments[corpus] = stack.enter_context(closing(env))
            drawn = generator.integers(2**31, size=settings.surveys + 1).tolist()
            seeds = np.repeat(drawn[:-1], settings.repeats).tolist()
            episodes = play(environments[corpus], learner.policy(), seeds, drawn[-1])
            gained = [
                row
                for first in range(0, count, settings.repeats)
                for row in advantages(
                    [episode.returns for episode in episodes[first : first + settings.repeats]]
                )
            ]
            choices = [choice for episode in episodes for choice in episode.choices]
            update(learner, optimizer, choices, np.concatenate(gained), settings)
            yield (number + 1) * count, learner.policy()


def evaluate(corpus: Corpus, policy: Policy) -> dict[str, float]:
    """Return recall@100 of every survey of a corpus, with the most probable queries."""
    found: dict[str, float] = {}
    with closing(gymnasium.make(ENVIRONMENT, corpus=corpus)) as env:
        for survey in TaskSet(corpus).scorable:
            observation, _ = env.reset(options={"survey": survey})
            agent, over = Reformulation(policy=policy), False
            while not over:
                observation, _, terminated, truncated, info = env.step(agent.act(observation))
                over = terminated or truncated
            found[survey] = info["metrics"]["recall@100"]
    return found
