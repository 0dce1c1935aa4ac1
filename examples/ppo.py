"""PPO in one file (Schulman et al. 2017, equation 7); it plays `Queries` of discrete.py.

python examples/ppo.py --corpus DIR --steps 4096
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

import gymnasium
import numpy as np
import torch
from discrete import FEATURES, Queries
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

GAMMA, LAMBDA, CLIP, ENTROPY, VALUE = 1.0, 0.95, 0.2, 0.01, 0.5


class Net(nn.Module):
    """Scores each candidate by its own row, and values the state by the mean of the rows."""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(len(FEATURES), hidden), nn.Tanh())
        self.score, self.value = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, features: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return the distribution over candidates, and values of shape (batch,)."""
        rows, there = self.rows(features), features[..., 0] > 0
        there[:, 0] |= ~there.any(1)  # an episode that is over has none
        logits = self.score(rows).squeeze(-1).masked_fill(~there, -1e9)
        mean = (rows * there[..., None]).sum(1) / there.sum(1, keepdim=True)
        return Categorical(logits=logits), self.value(mean).squeeze(-1)


def train(
    env: gymnasium.vector.VectorEnv, net: Net, steps: int, length: int = 64, rate: float = 3e-3
) -> Iterator[float]:
    """Play `steps` steps; yield the mean return of the episodes that ended, after each update."""
    optimizer, n = torch.optim.Adam(net.parameters(), rate), env.num_envs
    seen, _ = env.reset(seed=0)
    running, over = np.zeros(n), np.zeros(n, bool)
    for _ in range(max(1, steps // (length * n))):
        observed, actions, logs, values, rewards, dones, ended = [], [], [], [], [], [], []
        for _ in range(length):
            with torch.no_grad():
                choice, value = net(torch.as_tensor(seen))
                action = choice.sample()
            observed.append(torch.as_tensor(seen))
            actions.append(action)
            logs.append(choice.log_prob(action))
            values.append(value)
            seen, reward, terminated, truncated, _ = env.step(action.numpy())
            over = terminated | truncated
            running += reward
            ended += running[over].tolist()
            running[over] = 0
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            dones.append(torch.as_tensor(over, dtype=torch.float32))
        with torch.no_grad():
            next_value, gain = net(torch.as_tensor(seen))[1], torch.zeros(n)
        gains = []
        for t in reversed(range(length)):  # generalized advantages (Schulman et al. 2016)
            left = 1 - dones[t]
            gain = rewards[t] + GAMMA * left * next_value - values[t] + GAMMA * LAMBDA * left * gain
            next_value = values[t]
            gains.append(gain)
        advantages = torch.stack(gains[::-1]).flatten()
        targets = advantages + torch.stack(values).flatten()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        inputs, chosen = torch.cat(observed), torch.cat(actions)
        before = torch.cat(logs)
        for _ in range(4):
            for part in torch.randperm(len(chosen)).chunk(4):
                choice, value = net(inputs[part])
                ratio = (choice.log_prob(chosen[part]) - before[part]).exp()
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                surrogate = torch.min(ratio * advantages[part], clipped * advantages[part])
                loss = (
                    -surrogate.mean()
                    + VALUE * (value - targets[part]).square().mean()
                    - ENTROPY * choice.entropy().mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()
        yield float(np.mean(ended)) if ended else float("nan")


def main() -> None:
    """Train on a corpus and print the mean return."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--steps", type=int, default=16384)
    parser.add_argument("--envs", type=int, default=8)
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    makers = [partial(Queries, corpus=given.corpus)] * given.envs
    env = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)
    for number, value in enumerate(train(env, Net(), given.steps)):
        print(f"update {number + 1}: mean return {value:.3f}", flush=True)
    env.close()


if __name__ == "__main__":
    main()
