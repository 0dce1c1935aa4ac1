"""The check ``budgets``."""

from __future__ import annotations

from typing import Any

from gymnasium.error import ResetNeeded

from arena.check._episodes import Player, ids_in, parsed, titles_in
from arena.check._subject import Subject
from arena.check.base import CHECKS, require

NAMES = ("steps", "searches", "reads", "characters")
_SMALL = {"max_steps": 12, "max_searches": 2, "max_reads": 3, "max_characters": 30_000}
_NO_TOOL = {"tool": "no such tool", "arguments": {}}


@CHECKS.register("budgets")
def check(subject: Subject) -> str:
    """A budget that has run out truncates; none is below 0; after the end a reset is needed."""
    _needs_reset(subject.make(), "before the first reset")
    _needs_reset(subject.make().unwrapped, "before the first reset")
    env = subject.make(max_steps=3)
    env.reset(seed=subject.seeds[0])
    for left in (2, 1, 0):
        _expect(env, _NO_TOOL, "steps", left, over=left == 0)
    _needs_reset(env, "after truncation")
    tried = ["steps", *_tools(subject)]
    steps = _small_budgets(subject)
    return f"{', '.join(tried)} run out; {steps} steps of episodes with small budgets"


def _tools(subject: Subject) -> list[str]:
    """Run out of searches, reads and characters, with the tools that the environment has."""
    tools, tried = subject.tools, []
    seed = subject.seeds[0]
    topic, ids = _known(subject)
    search = {"tool": "search", "arguments": {"query": topic}}
    if "search" in tools:
        env = subject.make(max_searches=1)
        env.reset(seed=seed)
        _expect(env, search, "searches", 0, over=False)
        _expect(env, search, "searches", 0, over=True)
        _needs_reset(env, "after truncation")
        tried.append("searches")
    readers = [name for name in ("read", "references", "citations") if name in tools]
    for name in readers if ids else ():
        call = {"tool": name, "arguments": {"paper_id": ids[0]}}
        env = subject.make(max_reads=1)
        env.reset(seed=seed)
        _expect(env, call, "reads", 0, over=False)
        _expect(env, call, "reads", 0, over=True)
        tried.append(f"reads ({name})")
    if "search" in tools and ids:
        env = subject.make(max_characters=10)
        env.reset(seed=seed)
        result = _expect(env, search, "characters", 10, over=True)
        require(not list(titles_in(result)), "a result is shown for which no characters were left")
        tried.append("characters")
    if "finish" in tools:
        env = subject.make()
        env.reset(seed=seed)
        over = env.step({"tool": "finish", "arguments": {}})[2]
        require(over, "finish() does not terminate")
        _needs_reset(env, "after termination")
    return tried


def _known(subject: Subject) -> tuple[str, list[str]]:
    """Return the topic and ids of papers in reach of the first episode."""
    env = subject.make()
    observation = env.reset(seed=subject.seeds[0])[0]
    topic = str(observation["topic"])
    found = list(ids_in(parsed(observation["result"])))
    if not found and "search" in subject.tools:
        step = env.step({"tool": "search", "arguments": {"query": topic}})
        found = list(ids_in(parsed(step[0]["result"])))
    return topic, found


def _expect(env: Any, action: dict[str, Any], name: str, left: int, *, over: bool) -> Any:
    observation, _, terminated, truncated, _ = env.step(action)
    where = f"max_{name}: after {action['tool']}"
    found = observation["budget"].get(name)
    require(found == left, f"{where} the observation's budget has {name}={found}, not {left}")
    require(not terminated, f"{where} the episode is terminated")
    require(truncated == over, f"{where} truncated is {truncated}, not {over}")
    result = parsed(observation["result"])
    if over and name != "steps":
        told = isinstance(result, dict) and isinstance(result.get("error"), str)
        require(told, f"{where} the result does not say why the episode is over")
    return result


def _small_budgets(subject: Subject) -> int:
    """Play at random until a budget has run out; return how many steps it took."""
    env = subject.make(**_SMALL)
    steps = 0
    for seed in subject.seeds:
        observation = env.reset(seed=seed)[0]
        player = Player(env.action_space, seed, _SMALL["max_steps"])
        limits = {name: _SMALL[f"max_{name}"] for name in NAMES}
        before = observation["budget"]
        full = {name: before.get(name) for name in NAMES}
        require(full == limits, f"an episode begins with the budget {before}, not {limits}")
        over = False
        for number in range(1, _SMALL["max_steps"] + 1):
            where = f"seed {seed}, step {number}"
            before = dict(observation["budget"])
            observation, _, terminated, truncated, _ = env.step(player.act(observation))
            _spent(where, before, observation)
            over, steps = terminated or truncated, steps + 1
            if over:
                break
        require(over, f"seed {seed}: not over after max_steps={_SMALL['max_steps']}")
        _needs_reset(env, "after the end")
    return steps


def _spent(where: str, before: dict[str, int], observation: dict[str, Any]) -> None:
    budget, text = observation["budget"], observation["result"]
    for name in NAMES:
        left = budget[name]
        require(left >= 0, f"{where}: {name} is {left}")
        require(left <= before[name], f"{where}: {name} rises from {before[name]} to {left}")
    require(before["steps"] - budget["steps"] == 1, f"{where}: it does not cost one step")
    for name in ("searches", "reads"):
        require(before[name] - budget[name] <= 1, f"{where}: it costs more than one of {name}")
    cost = before["characters"] - budget["characters"]
    shows = any(titles_in(parsed(text)))
    wanted = (len(text),) if shows else (0, len(text))
    require(cost in wanted, f"{where}: a result of {len(text)} characters costs {cost} of them")


def _needs_reset(env: Any, when: str) -> None:
    try:
        env.step(_NO_TOOL)
    except ResetNeeded:
        return
    require(False, f"step {when} does not raise gymnasium.error.ResetNeeded")
