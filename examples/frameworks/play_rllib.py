"""Train with RLlib's PPO which word of the topic to search for: actions are numbers."""

import json

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from ray.rllib.algorithms.ppo import PPOConfig

import arena  # noqa: F401  # registers the environments


class Words(gymnasium.Env):
    action_space, observation_space = Discrete(8), Box(0, 1, (8,), np.float32)

    def __init__(self, config):
        self.env = gymnasium.make("arena/Discovery-v0", **config)

    def reset(self, *, seed=None, options=None):
        observation, info = self.env.reset(seed=seed, options=options)
        self.words, self.found = observation["topic"].split(), {}
        self.tried = np.zeros(8, np.float32)
        return self.tried.copy(), info

    def step(self, action):
        action, self.tried[action] = int(action), 1
        call = {"tool": "submit", "arguments": {"paper_ids": list(self.found)}}
        if action < 7:
            query = self.words[action % len(self.words)]
            call = {"tool": "search", "arguments": {"query": query, "k": 20}}
        observation, *rest = self.env.step(call)
        self.found |= {hit["id"]: True for hit in json.loads(observation["result"]).get("hits", [])}
        return self.tried.copy(), *rest


config = PPOConfig().environment(Words, env_config={"corpus": "demo/synthetic"})
config.env_runners(num_env_runners=0).training(train_batch_size=256, minibatch_size=64)
algorithm = config.build_algo()
result = algorithm.train()
print(result["env_runners"]["episode_return_mean"])
algorithm.stop()
