"""The checks ``budgets`` and ``bad_actions``: what a step costs, and when an episode ends."""

from __future__ import annotations

import math
from typing import Any

from gymnasium.error import ResetNeeded

from arena.errors import clip
from arena.testing.actions import malformed, stress
from arena.testing.contract import Subject
from arena.testing.episodes import Trace, first_difference, plain
from arena.testing.report import CHECKS, require
from arena.testing.walk import parsed, values_of

_NAMES = ("steps", "searches", "reads", "characters")
_SMALL = {"max_steps": 12, "max_searches": 2, "max_reads": 3, "max_characters": 30_000}
_NO_TOOL = {"tool": "no such tool", "arguments": {}}
_COSTS = {"search": "searches", "read": "reads", "references": "reads", "citations": "reads"}
"""What a call of a tool of this project costs; of other tools it is measured."""


@CHECKS.register("budgets")
def budgets(subject: Subject) -> str:
    """A budget that has run out truncates; none is below 0; after the end a reset is needed."""
    _check_reset_needed(subject.make(), "before the first reset")
    _check_reset_needed(subject.make().unwrapped, "before the first reset")
    env = subject.make(max_steps=3)
    env.reset(seed=subject.seeds[0])
    for left in (2, 1, 0):
        _expect(env, _NO_TOOL, "steps", left, over=left == 0)
    _check_reset_needed(env, "after truncation")
    tried = ["steps", *_check_tools(subject)]
    steps = _check_small_budgets(subject)
    return f"{', '.join(tried)} run out; {steps} steps of episodes with small budgets"


def _check_tools(subject: Subject) -> list[str]:
    """Run out of searches, reads and characters by calls of every tool that costs one."""
    tools, tried = subject.tools, []
    seed = subject.seeds[0]
    search, calls = _calls(subject)
    for call in calls:
        tool = call["tool"]
        name = _COSTS.get(tool) or _cost(subject, call)
        if name is None:
            continue
        env = subject.make(**{f"max_{name}": 1})
        env.reset(seed=seed)
        _expect(env, call, name, 0, over=False)
        _expect(env, call, name, 0, over=True)
        _check_reset_needed(env, "after truncation")
        tried.append(name if name == "searches" and tool == "search" else f"{name} ({tool})")
    if "search" in tools and len(calls) > 1:
        env = subject.make(max_characters=10)
        env.reset(seed=seed)
        result = _expect(env, search, "characters", 10, over=True)
        require(not values_of("title", result), "a result is shown without characters left")
        tried.append("characters")
    if "finish" in tools:
        env = subject.make()
        env.reset(seed=seed)
        over = env.step({"tool": "finish", "arguments": {}})[2]
        require(over, "finish() does not terminate")
        _check_reset_needed(env, "after termination")
    return tried


def _calls(subject: Subject) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a search, and calls of all tools that take the topic or an id in reach."""
    env = subject.make()
    observation = env.reset(seed=subject.seeds[0])[0]
    search = {"tool": "search", "arguments": {"query": str(observation["topic"])}}
    ids = values_of("id", parsed(observation["result"]))
    if not ids and "search" in subject.tools:
        ids = values_of("id", parsed(env.step(search)[0]["result"]))
    return search, [search] * ("search" in subject.tools) + (
        calls_about(ids[0], subject) if ids else []
    )


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


def _cost(subject: Subject, call: dict[str, Any]) -> str | None:
    """Return the budget that a call takes one from, if it takes one."""
    env = subject.make()
    before = env.reset(seed=subject.seeds[0])[0]["budget"]
    after = env.step(call)[0]["budget"]
    return next((name for name in ("searches", "reads") if after[name] < before[name]), None)


def _expect(env: Any, action: dict[str, Any], name: str, left: int, *, over: bool) -> Any:
    observation, _, terminated, truncated, _ = env.step(action)
    where = f"max_{name}: after {action['tool']}"
    actual = observation["budget"].get(name)
    require(actual == left, f"{where} the observation's budget has {name}={actual}, not {left}")
    require(not terminated, f"{where} the episode is terminated")
    require(truncated == over, f"{where} truncated is {truncated}, not {over}")
    result = parsed(observation["result"])
    if over and name != "steps":
        explained = isinstance(result, dict) and isinstance(result.get("error"), str)
        require(explained, f"{where} the result does not say why the episode is over")
    return result


def _check_small_budgets(subject: Subject) -> int:
    """Play at random until a budget has run out; return how many steps it took."""
    env = subject.make(**_SMALL)
    steps = 0
    for seed in subject.seeds:
        observation = env.reset(seed=seed)[0]
        player = subject.player(seed, _SMALL["max_steps"])
        limits = {name: _SMALL[f"max_{name}"] for name in _NAMES}
        before = observation["budget"]
        full = {name: before.get(name) for name in _NAMES}
        require(full == limits, f"an episode begins with the budget {before}, not {limits}")
        over = False
        for number in range(1, _SMALL["max_steps"] + 1):
            where = f"seed {seed}, step {number}"
            before = dict(observation["budget"])
            observation, _, terminated, truncated, _ = env.step(player.act(observation))
            _check_spent(where, before, observation)
            over, steps = terminated or truncated, steps + 1
            if over:
                break
        require(over, f"seed {seed}: not over after max_steps={_SMALL['max_steps']}")
        _check_reset_needed(env, "after the end")
    return steps


def _check_spent(where: str, before: dict[str, int], observation: dict[str, Any]) -> None:
    budget, text = observation["budget"], observation["result"]
    for name in _NAMES:
        left = budget[name]
        require(left >= 0, f"{where}: {name} is {left}")
        require(left <= before[name], f"{where}: {name} rises from {before[name]} to {left}")
    require(before["steps"] - budget["steps"] == 1, f"{where}: it does not cost one step")
    for name in ("searches", "reads"):
        require(before[name] - budget[name] <= 1, f"{where}: it costs more than one of {name}")
    cost = before["characters"] - budget["characters"]
    costs = (len(text),) if values_of("title", parsed(text)) else (0, len(text))
    require(cost in costs, f"{where}: a result of {len(text)} characters costs {cost} of them")


def _check_reset_needed(env: Any, when: str) -> None:
    try:
        env.step(_NO_TOOL)
    except ResetNeeded:
        return
    require(False, f"step {when} does not raise gymnasium.error.ResetNeeded")


@CHECKS.register("bad_actions")
def bad_actions(subject: Subject) -> str:
    """A call that cannot be carried out is answered, costs a step and nothing else."""
    tools = subject.tools
    env = subject.make(max_steps=10**6)
    observation = env.reset(seed=subject.seeds[0])[0]
    count = 0
    for action in malformed(tools):
        before = dict(observation["budget"])
        observation, over = _step(env, action)
        where = f"the action {clip(action)}"
        require(not over, f"{where} ended the episode")
        left = dict(observation["budget"])
        cost = {name: before[name] - left[name] for name in before if before[name] != left[name]}
        require(cost == {"steps": 1}, f"{where} cost {cost}, not a step")
        answer = parsed(observation["result"])
        refused = isinstance(answer, dict) and isinstance(answer.get("error"), str)
        require(refused and answer["error"], f"{where} is answered without an 'error'")
        count += 1
    _check_unharmed(env, subject.traces[0])
    observation = env.reset(seed=subject.seeds[0])[0]
    for action in stress(tools):
        observation, over = _step(env, action)
        least = min(observation["budget"].values())
        require(least >= 0, f"the action {clip(action)} left {least} of a budget")
        if over:
            observation = env.reset(seed=subject.seeds[0])[0]
        count += 1
    return f"{count} actions"


def _check_unharmed(env: Any, trace: Trace) -> None:
    """Require that the episode goes on as one in which no call was wrong."""
    for action, expected in zip(trace.actions, trace.steps, strict=True):
        observation, reward, terminated, *_ = env.step(action)
        where = first_difference(
            {"result": expected[0]["result"], "reward": expected[1], "terminated": expected[2]},
            plain({"result": observation["result"], "reward": reward, "terminated": terminated}),
        )
        require(not where, f"after the bad actions the episode goes on otherwise: {where}")


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
