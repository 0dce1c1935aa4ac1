"""Let an agent play every topic of a corpus, score it, replay it, and score it again."""

from arena.runs.in_memory import Rollout, rollouts
from arena.runs.replaying import Replay, ReplayDifference, replay, replay_steps
from arena.runs.runner import run
from arena.runs.scoring import rescore, score

__all__ = [
    "Replay",
    "ReplayDifference",
    "Rollout",
    "replay",
    "replay_steps",
    "rescore",
    "rollouts",
    "run",
    "score",
]
