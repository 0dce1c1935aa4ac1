"""Train Stable-Baselines3's PPO on the search in numbers of examples/discrete.py."""

import sys

sys.path.insert(0, "examples")

from discrete import Queries
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

env = Queries(corpus="demo/synthetic")
model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, gamma=1.0, seed=0, device="cpu")
model.learn(128)
mean, _ = evaluate_policy(model, model.get_env(), n_eval_episodes=5, warn=False)
print(mean)
