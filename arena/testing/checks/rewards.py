"""The check ``rewards``: terms add up to the reward."""

from __future__ import annotations

import math
from typing import Any

from arena.errors import clip
from arena.testing.contract import Subject
from arena.testing.episodes import Trace, replay
from arena.testing.report import CHECKS, require


@CHECKS.register("rewards")
def rewards(subject: Subject) -> str:
    """The terms of every registered reward, and of all together, add up to what is paid."""
    from arena.rewards import REWARDS

    names = REWARDS.names()
    for reward in [None, *names, "+".join(names)]:
        changes: dict[str, Any] = (
            {} if reward is None else {"reward": reward, "reward_options": None}
        )
        if reward is not None and (options := subject.options.get("reward_options")):
            kept = {name: value for name, value in options.items() if name in reward.split("+")}
            changes["reward_options"] = kept
        env = subject.make(**changes)
        for trace in subject.traces:
            _check(replay(env, trace), reward or subject.options.get("reward"))
    return f"{subject.counted()}, for each of {', '.join(names)} and for their sum"


def _check(trace: Trace, reward: str | None) -> None:
    for number, (_, paid, _, _, info) in enumerate(trace.steps, 1):
        where = f"reward {reward or 'by default'}, seed {trace.seed}, step {number}"
        terms: Any = info.get("reward_terms")
        require(isinstance(terms, dict) and terms, f"{where}: info has no 'reward_terms'")
        for name, value in (*terms.items(), ("the reward", paid)):
            is_number = isinstance(value, float) and math.isfinite(value)
            require(is_number, f"{where}: {name} is {clip(value)}, no finite float")
        # Summed in another order the last bits may differ.
        same = math.isclose(paid, math.fsum(terms.values()), rel_tol=1e-9, abs_tol=1e-12)
        require(same, f"{where}: it is {paid!r}, its terms {terms} are {sum(terms.values())!r}")
        if reward is None:
            continue
        parts = [part.strip() for part in reward.split("+")]
        belonging = {name: [p for p in parts if f"{name}.".startswith(f"{p}.")] for name in terms}
        for name, owners in belonging.items():
            require(owners, f"{where}: the term {name!r} begins with no name of a reward")
        for part in parts:
            require(any(part in owners for owners in belonging.values()), f"{where}: no term")
