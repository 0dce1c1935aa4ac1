"""Rewards by name, metrics as rewards, and sums: ``"gain"``, ``"gain+ari"``.

To add one, see docs/extending.md.
"""

from arena.rewards.base import (
    REWARDS,
    MetricReward,
    Progress,
    Reward,
    Seen,
    make_rewards,
    plain_name,
    reward,
)

__all__ = [
    "REWARDS",
    "MetricReward",
    "Progress",
    "Reward",
    "Seen",
    "make_rewards",
    "plain_name",
    "reward",
]
