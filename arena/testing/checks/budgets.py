"""The checks ``budgets`` and ``bad_actions``: what a step costs, and when an episode ends."""

from __future__ import annotations

import math
from typing import Any

from gymnasium.error import ResetNeeded

from arena.errors import clip
from arena.testing.actions import probes
from arena.testing.contract import Subject
from arena.testing.episodes import first_difference, plain, random_play
from arena.testing.report import CHECKS, require
from arena.testing.walk import parsed, values_of

_SMALL = {"steps": 12, "searches": 2, "reads": 3, "characters": 30_000}


@CHECKS.register("budgets")
def budgets(subject: Subject) -> str:
    """A budget that has run out truncates; none is below 0; after the end a reset is needed."""
    for env in (subject.make(), subject.make().unwrapped):
        _check_reset_needed(env, "before the first reset")
    steps, tried, seed = 0, ["steps"], subject.seeds[0]
    for each in subject.seeds:
        steps += len(_spend(subject, each, _SMALL)) - 1
    env = subject.make()
    topic = env.reset(seed=seed)[0]["topic"]
    calls = subject.calls_about(subject.traces[0].ids()[:1])
    if "search" in subject.tools:
        calls.append({"tool": "search", "arguments": {"query": topic}})
        _, *results = _spend(subject, seed, {"steps": 3, "characters": 10}, calls[-1])
        shown = values_of("title", parsed(results[0]["result"]))
        require(not shown and len(results) == 1, "a result is shown without characters left")
        tried.append("characters")
    for call in calls:
        for name in ("searches", "reads"):  # the second call finds nothing left
            played = _spend(subject, seed, {"steps": 3, name: 1}, call)
            if played[1]["budget"][name] == 0:
                ended = len(played) == 3 and "error" in parsed(played[2]["result"])
                require(ended, f"max_{name}=1: the second {call['tool']} is not the last call")
                tried.append(f"{name} ({call['tool']})")
    if "write" in subject.tools:
        _check_written(subject, seed)
        tried.append("written")
    if "finish" in subject.tools:
        over = env.step({"tool": "finish", "arguments": {}})[2]
        require(over, "finish() does not terminate")
        _check_reset_needed(env, "after termination")
    return f"{', '.join(tried)} run out; {steps} steps of episodes with small budgets"


def _spend(
    subject: Subject, seed: int, limits: dict[str, int], call: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Play `call` or at random until a budget has run out; check what each step costs.

    Returns:
        The observations.
    """
    env = subject.make(**{f"max_{name}": most for name, most in limits.items()})
    act = (lambda _: call) if call else random_play(env, seed, limits["steps"])
    played = [plain(env.reset(seed=seed)[0])]
    begun = {name: played[0]["budget"].get(name) for name in limits}
    require(begun == limits, f"an episode begins with the budget {begun}, not {limits}")
    over = False
    while not over:
        where = f"seed {seed}, {limits}, step {len(played)}"
        require(len(played) <= limits["steps"], f"{where}: the episode goes on")
        observation, _, terminated, truncated, _ = env.step(act(played[-1]))
        played.append(plain(observation))
        over = bool(terminated or truncated)
        before, left, text = played[-2]["budget"], played[-1]["budget"], observation["result"]
        for name in _SMALL:
            least, most = max(0, before[name] - 1), before[name] - (name == "steps")
            fits = (0 if name == "characters" else least) <= left[name] <= most
            require(fits, f"{where}: {name} goes from {before[name]} to {left[name]}")
        cost = before["characters"] - left["characters"]
        costs = (len(text),) if values_of("title", parsed(text)) else (0, len(text))
        require(cost in costs, f"{where}: a result of {len(text)} characters costs {cost} of them")
        explained = not truncated or left["steps"] == 0 or "error" in parsed(text)
        require(explained, f"{where}: the result does not say why the episode is over")
    _check_reset_needed(env, "after the end")
    return played


def _check_written(subject: Subject, seed: int) -> None:
    """Write as much as may be written, and then too much: that is refused, and nothing ends."""
    env = subject.make(max_written=10)
    env.reset(seed=seed)
    for number, left in enumerate((5, 0, 0)):
        call = {"tool": "write", "arguments": {"heading": "A", "text": "text"}}
        observation, _, terminated, truncated, _ = env.step(call)
        now, refused = observation["budget"]["written"], "error" in parsed(observation["result"])
        require(now == left, f"max_written=10: {now} are left after {number + 1} texts of 5")
        require(refused == (number == 2), f"max_written=10: text {number + 1} of 5 is answered so")
        require(not (terminated or truncated), "max_written=10: writing ends the episode")


def _check_reset_needed(env: Any, when: str) -> None:
    try:
        env.step({"tool": "no such tool", "arguments": {}})
    except ResetNeeded:
        return
    require(False, f"step {when} does not raise gymnasium.error.ResetNeeded")


@CHECKS.register("bad_actions")
def bad_actions(subject: Subject) -> str:
    """A call that cannot be carried out is answered, costs a step and nothing else."""
    env, seed, trace = subject.make(max_steps=10**6), subject.seeds[0], subject.traces[0]
    before = dict(env.reset(seed=seed)[0]["budget"])
    odd = list(probes(subject.tools))
    for action in (probe.action for probe in odd if not probe.allowed):
        observation, over = _step(env, action)
        where, left = f"the action {clip(action)}", dict(observation["budget"])
        require(not over, f"{where} ended the episode")
        cost = {name: before[name] - left[name] for name in before if before[name] != left[name]}
        require(cost == {"steps": 1}, f"{where} cost {cost}, not a step")
        answer = parsed(observation["result"])
        refused = isinstance(answer, dict) and isinstance(answer.get("error"), str)
        require(refused and answer["error"], f"{where} is answered without an 'error'")
        before = left
    for action, expected in zip(trace.actions, trace.steps, strict=True):
        step = env.step(action)
        once, again = ([s[0]["result"], s[1], s[2]] for s in (expected, plain(step)))
        place = first_difference(once, again)
        require(not place, f"after the bad actions the episode goes on otherwise: {place}")
    env.reset(seed=seed)
    for action in (probe.action for probe in odd if probe.allowed):
        observation, over = _step(env, action)
        least = min(observation["budget"].values())
        require(least >= 0, f"the action {clip(action)} left {least} of a budget")
        if over:
            env.reset(seed=seed)
    return f"{len(odd)} actions"


def _step(env: Any, action: Any) -> tuple[Any, bool]:
    where = f"the action {clip(action)}"
    try:
        observation, reward, terminated, truncated, _ = env.step(action)
    except Exception as error:
        require(False, f"{where} raised {type(error).__name__}: {error}")
        raise
    require(env.observation_space.contains(observation), f"{where}: observation not in its space")
    require(math.isfinite(reward), f"{where} pays {reward!r}")
    return observation, bool(terminated or truncated)
