"""The check ``space``."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

from arena.check._episodes import plain
from arena.check._junk import wrong
from arena.check._subject import Subject
from arena.check.base import CHECKS, require
from arena.errors import clip

_SAMPLES = 200
_LONG = 20_000
_QUICK = 1e-3  # seconds; Gymnasium's Text takes 1.8 ms for a string of 20,000 characters
_TRIES = 20
_SCRIPTS = 'é λ ж 深学 ｶ \U0001f701 \u202e \0 \x1b \ufffd \ud800 " \\ \n'


@CHECKS.register("space")
def check(subject: Subject) -> str:
    """Spaces sample by their seed, and contain what they shall: samples, any script, no junk."""
    env = subject.make()
    space, tools = env.action_space, subject.tools
    samples = _samples(space, subject.seeds[0])
    require(samples == _samples(space, subject.seeds[0]), "the same seed gives other samples")
    require(samples != _samples(space, subject.seeds[0] + 1), "another seed gives no others")
    if missing := set(tools) - {sample["tool"] for sample in samples}:
        require(False, f"{_SAMPLES} samples have no call of {', '.join(sorted(missing))}")
    for sample in samples:
        for form in (sample, json.dumps(sample), json.dumps(sample, ensure_ascii=False)):
            require(_contains(space, form), f"the sample {clip(form)} is not contained")
    for action in wrong(tools):
        require(not _contains(space, action), f"{clip(action)} is contained")
    seen = _observations(subject, env)
    _quick(space, env.observation_space, seen, samples)
    return f"{_SAMPLES} samples, {subject.counted()}, texts of {_LONG:,} characters"


def _samples(space: Any, seed: int) -> list[Any]:
    own = copy.deepcopy(space)
    own.seed(seed)
    return [plain(own.sample()) for _ in range(_SAMPLES)]


def _contains(space: Any, value: Any) -> bool:
    try:
        found = space.contains(value)
    except Exception as error:
        require(False, f"contains({clip(value)}) raised {type(error).__name__}: {error}")
        raise
    require(isinstance(found, bool), f"contains({clip(value)}) is {clip(found)}, no bool")
    return bool(found)


def _observations(subject: Subject, env: Any) -> dict[str, Any]:
    """Check every recorded observation; return one of them."""
    observation: dict[str, Any] = {}
    for trace in subject.traces:
        for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
            inside = _contains(env.observation_space, observation)
            require(inside, f"seed {trace.seed}, step {number}: observation not in its space")
    other = observation | {"result": _SCRIPTS}
    require(_contains(env.observation_space, other), "a result of other scripts is not contained")
    some: list[Any] = [None, [], "", {}, observation | {"result": 5}, observation | {"more": 1}]
    for junk in some:
        require(not _contains(env.observation_space, junk), f"{clip(junk)} is an observation")
    return observation


def _quick(actions: Any, observations: Any, seen: dict[str, Any], samples: list[Any]) -> None:
    long = (_SCRIPTS * _LONG)[:_LONG]
    call = next((s for s in samples if "query" in s["arguments"]), samples[0])
    filled = call | {"arguments": call["arguments"] | {"query": long}}
    for name, space, value in (
        ("observation", observations, seen | {"result": long}),
        ("action", actions, filled),
        ("action", actions, long),
        ("action", actions, json.dumps(filled)),
    ):
        taken = min(_timed(space, value) for _ in range(_TRIES))
        require(taken < _QUICK, f"contains() of an {name} takes {taken * 1e3:.1f} ms")


def _timed(space: Any, value: Any) -> float:
    started = time.perf_counter()
    space.contains(value)
    return time.perf_counter() - started
