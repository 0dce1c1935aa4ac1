"""The check ``rewards``: terms add up to the reward."""

from __future__ import annotations

import math

from arena.errors import clip
from arena.testing.contract import Subject
from arena.testing.episodes import replay
from arena.testing.report import CHECKS, require


@CHECKS.register("rewards")
def rewards(subject: Subject) -> str:
    """The terms of every reward and of the task's metrics, and of all, add up to what is paid."""
    from arena.rewards import REWARDS
    from arena.tasks import stages_of

    stages = stages_of(subject.task)
    names = [*REWARDS.names(), *(metric for _, task in stages for metric in task.metrics)]
    options = subject.options.get("reward_options") or {}
    for reward in [None, *names, "+".join(names)]:
        parts = (reward or subject.options.get("reward") or "").split("+")
        parts = [part.strip() for part in parts if part]
        kept = {name: value for name, value in options.items() if name in parts} or None
        env = subject.make(**({"reward": reward, "reward_options": kept} if reward else {}))
        for trace in subject.traces:
            for number, (_, paid, _, _, info) in enumerate(replay(env, trace).steps, 1):
                where = f"reward {reward or 'by default'}, seed {trace.seed}, step {number}"
                _check(where, paid, info.get("reward_terms"), parts)
    return f"{subject.counted()}, for each of {', '.join(names)} and for their sum"


def _check(where: str, paid: object, terms: object, parts: list[str]) -> None:
    if not isinstance(terms, dict) or not terms:
        require(False, f"{where}: info has no 'reward_terms'")
        return
    for name, value in (*terms.items(), ("the reward", paid)):
        number = isinstance(value, float) and math.isfinite(value)
        require(number, f"{where}: {name} is {clip(value)}, no finite float")
    # Summed in another order the last bits may differ.
    total = math.fsum(terms.values())
    same = math.isclose(paid, total, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    require(same, f"{where}: it is {paid!r}, its terms {terms} are {total!r}")
    for name in terms if parts else ():
        named = any(f"{name}.".startswith(f"{part}.") for part in parts)
        require(named, f"{where}: the term {name!r} begins with no name of a reward")
    for part in parts:
        paid_for = any(f"{name}.".startswith(f"{part}.") for name in terms)
        require(paid_for, f"{where}: no term of {part}")
