"""The checks ``budgets`` and ``bad_actions``: what a step costs, and when an episode ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gymnasium.error import ResetNeeded

from arena.errors import clip
from arena.testing.actions import probes
from arena.testing.contract import Subject
from arena.testing.episodes import first_difference, plain
from arena.testing.report import CHECKS, require
from arena.testing.walk import parsed, values_of

_SMALL = {"steps": 12, "searches": 2, "reads": 3, "characters": 30_000}
_NO_TOOL = {"tool": "no such tool", "arguments": {}}


@CHECKS.register("budgets")
def budgets(subject: Subject) -> str:
    """A budget that has run out truncates; none is below 0; after the end a reset is needed."""
    for env in (subject.make(), subject.make().unwrapped):
        _check_reset_needed(env, "before the first reset")
    steps, tried = 0, ["steps"]
    for seed in subject.seeds:
        player = subject.player(seed, _SMALL["steps"])
        steps += len(_spend(subject, seed, player.act, _SMALL)) - 1
    env = subject.make()
    topic = env.reset(seed=subject.seeds[0])[0]["topic"]
    search = {"tool": "search", "arguments": {"query": topic}}
    seen = subject.traces[0].start, *subject.traces[0].steps
    ids = [paper_id for each in seen for paper_id in values_of("id", parsed(each[0]["result"]))]
    calls = [search] * ("search" in subject.tools) + (calls_about(ids[0], subject) if ids else [])
    for call in calls:
        for name in ("searches", "reads"):  # the second call finds nothing left
            limits = {"steps": 3, name: 1}
            played = _spend(subject, subject.seeds[0], _always(call), limits)
            if played[1]["budget"][name] == 0:
                ended = len(played) == 3 and "error" in parsed(played[2]["result"])
                require(ended, f"max_{name}=1: the second {call['tool']} is not the last call")
                tried.append(f"{name} ({call['tool']})")
    if "search" in subject.tools:
        limits = {"steps": 3, "characters": 10}
        _, *results = _spend(subject, subject.seeds[0], _always(search), limits)
        shown = values_of("title", parsed(results[0]["result"]))
        require(not shown and len(results) == 1, "a result is shown without characters left")
        tried.append("characters")
    if "finish" in subject.tools:
        over = env.step({"tool": "finish", "arguments": {}})[2]
        require(over, "finish() does not terminate")
        _check_reset_needed(env, "after termination")
    return f"{', '.join(tried)} run out; {steps} steps of episodes with small budgets"


def _always(action: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda _: action


def calls_about(paper_id: str, subject: Subject) -> list[dict[str, Any]]:
    """Return a call of every tool whose one required argument is a string, with an id."""
    calls = []
    for name, schema in subject.tools.items():
        required = schema.get("required", [])
        parts = [schema["properties"][key] for key in required]
        one_text = [part.get("type") for part in parts] == ["string"] and not parts[0].get("enum")
        if one_text and name != "search":
            calls.append({"tool": name, "arguments": {required[0]: paper_id}})
    return calls


def _spend(
    subject: Subject, seed: int, act: Callable[[Any], Any], limits: dict[str, int]
) -> list[dict[str, Any]]:
    """Play until a budget has run out, and check what each step costs; return observations."""
    env = subject.make(**{f"max_{name}": most for name, most in limits.items()})
    played = [plain(env.reset(seed=seed)[0])]
    begun = {name: played[0]["budget"].get(name) for name in limits}
    require(begun == limits, f"an episode begins with the budget {begun}, not {limits}")
    over = False
    while not over:
        where = f"seed {seed}, {limits}, step {len(played)}"
        require(len(played) <= limits["steps"], f"{where}: the episode goes on")
        step = env.step(act(played[-1]))
        played.append(plain(step[0]))
        over = bool(step[2] or step[3])
        before, left, text = played[-2]["budget"], played[-1]["budget"], step[0]["result"]
        for name in _SMALL:
            least, most = max(0, before[name] - 1), before[name]
            least = 0 if name == "characters" else least
            most -= name == "steps"
            fits = least <= left[name] <= most
            require(fits, f"{where}: {name} goes from {before[name]} to {left[name]}")
        cost = before["characters"] - left["characters"]
        costs = (len(text),) if values_of("title", parsed(text)) else (0, len(text))
        require(cost in costs, f"{where}: a result of {len(text)} characters costs {cost} of them")
        explained = not step[3] or left["steps"] == 0 or "error" in parsed(text)
        require(explained, f"{where}: the result does not say why the episode is over")
    _check_reset_needed(env, "after the end")
    return played


def _check_reset_needed(env: Any, when: str) -> None:
    try:
        env.step(_NO_TOOL)
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
