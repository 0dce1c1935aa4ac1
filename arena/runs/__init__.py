"""Let an agent play every topic of a corpus, score it, verify it, and score it again."""

from arena.runs.in_memory import Rollout, rollouts
from arena.runs.replaying import ReplayDifference, replay_steps
from arena.runs.runner import run
from arena.runs.scoring import rescore, score
from arena.runs.verifying import Verification, verify

__all__ = [
    "ReplayDifference",
    "Rollout",
    "Verification",
    "replay_steps",
    "rescore",
    "rollouts",
    "run",
    "score",
    "verify",
]
