"""The checks ``gymnasium``, ``space`` and ``schema``: spaces, and tools as models see them."""

from __future__ import annotations

import copy
import json
import re
import time
import warnings
from collections.abc import Iterator
from typing import Any

from arena.errors import clip
from arena.testing.actions import malformed
from arena.testing.contract import Subject
from arena.testing.episodes import difference, plain, replay
from arena.testing.report import CHECKS, require
from arena.testing.walk import parsed, values_of

_SAMPLES = 200
_LONG = 20_000
_QUICK = 1e-3  # seconds; Gymnasium's Text takes 1.8 ms for a string of 20,000 characters
_TRIES = 20
_SCRIPTS = 'é λ ж 深学 ｶ \U0001f701 \u202e \0 \x1b \ufffd \ud800 " \\ \n'
_KEYWORDS = {
    "type", "description", "title", "default", "enum", "minimum", "maximum", "minLength",
    "maxLength", "minItems", "maxItems", "items", "properties", "required", "additionalProperties",
}  # fmt: skip
"""Keywords that servers of models take."""


@CHECKS.register("gymnasium")
def gymnasium(subject: Subject) -> str:
    """Gymnasium's own `check_env` passes without a warning."""
    from gymnasium.utils.env_checker import check_env

    env = subject.make().unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
    return "check_env, warnings as errors"


@CHECKS.register("space")
def space(subject: Subject) -> str:
    """Spaces sample by their seed and contain samples and any script, but no malformed call."""
    env = subject.make()
    actions, tools = env.action_space, subject.tools
    samples = _samples(actions, subject.seeds[0])
    require(samples == _samples(actions, subject.seeds[0]), "the same seed gives other samples")
    require(samples != _samples(actions, subject.seeds[0] + 1), "another seed gives no others")
    if missing := set(tools) - {sample["tool"] for sample in samples}:
        require(False, f"{_SAMPLES} samples have no call of {', '.join(sorted(missing))}")
    for sample in samples:
        for form in (sample, json.dumps(sample), json.dumps(sample, ensure_ascii=False)):
            require(_contains(actions, form), f"the sample {clip(form)} is not contained")
    for action in malformed(tools):
        require(not _contains(actions, action), f"{clip(action)} is contained")
    observation = _check_observations(subject, env)
    _check_speed(actions, env.observation_space, observation, samples)
    return f"{_SAMPLES} samples, {subject.counted()}, texts of {_LONG:,} characters"


def _samples(actions: Any, seed: int) -> list[Any]:
    own = copy.deepcopy(actions)
    own.seed(seed)
    return [plain(own.sample()) for _ in range(_SAMPLES)]


def _contains(space: Any, value: Any) -> bool:
    try:
        answer = space.contains(value)
    except Exception as error:
        require(False, f"contains({clip(value)}) raised {type(error).__name__}: {error}")
        raise
    require(isinstance(answer, bool), f"contains({clip(value)}) is {clip(answer)}, no bool")
    return bool(answer)


def _check_observations(subject: Subject, env: Any) -> dict[str, Any]:
    """Check every recorded observation; return one of them."""
    observation: dict[str, Any] = {}
    for trace in subject.traces:
        for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
            inside = _contains(env.observation_space, observation)
            require(inside, f"seed {trace.seed}, step {number}: observation not in its space")
    other = observation | {"result": _SCRIPTS}
    require(_contains(env.observation_space, other), "a result of other scripts is not contained")
    others: list[Any] = [None, [], "", {}, observation | {"result": 5}, observation | {"more": 1}]
    for other in others:
        require(not _contains(env.observation_space, other), f"{clip(other)} is an observation")
    return observation


def _check_speed(actions: Any, observations: Any, seen: dict[str, Any], samples: list[Any]) -> None:
    long = (_SCRIPTS * _LONG)[:_LONG]
    call = next((s for s in samples if "query" in s["arguments"]), samples[0])
    filled = call | {"arguments": call["arguments"] | {"query": long}}
    for name, space, value in (
        ("observation", observations, seen | {"result": long}),
        ("action", actions, filled),
        ("action", actions, long),
        ("action", actions, json.dumps(filled)),
    ):
        seconds = min(_timed(space, value) for _ in range(_TRIES))
        require(seconds < _QUICK, f"contains() of an {name} takes {seconds * 1e3:.1f} ms")


def _timed(space: Any, value: Any) -> float:
    started = time.perf_counter()
    space.contains(value)
    return time.perf_counter() - started


@CHECKS.register("schema")
def schema(subject: Subject) -> str:
    """Tools have valid schemas; calls in a model's format are the same actions, to the same end."""
    from arena.tools import tool_schemas

    env = subject.make()
    entries = tool_schemas(env)
    parameters: dict[str, dict[str, Any]] = {}
    for entry in entries:
        name = _check_function(entry)
        require(name not in parameters, f"two tools are called {name}")
        parameters[name] = entry["function"]["parameters"]
    actions = copy.deepcopy(env.action_space)
    actions.seed(subject.seeds[0])
    for action in (actions.sample() for _ in range(_SAMPLES)):
        tool = action["tool"]
        require(tool in parameters, f"a sample calls {clip(tool)}, no tool")
        error = violation(action["arguments"], parameters[tool])
        require(not error, f"a sample of {tool} does not satisfy its schema: {error}")
    _check_agreement(env.action_space, actions, parameters)
    for form in (_as_json, _as_call_of_text, _as_call_of_objects):
        env = subject.make()
        for trace in subject.traces:
            where = difference(trace, replay(env, trace, form))
            name = form.__name__.removeprefix("_as_").replace("_", " ")
            require(not where, f"actions written as {name} have another outcome: {where}")
    messages = 0
    for trace in subject.traces:
        for observation, *_ in [trace.start, *trace.steps]:
            _check_message(observation)
            messages += 1
    return f"{len(entries)} tools, {subject.counted()} in 3 forms, {messages} messages"


def schema_error(schema: Any) -> str | None:
    """Return what is wrong with the schema of a tool's arguments, or None.

    It must be of draft 2020-12, with the keywords that servers of models take and a type in every
    part; required names must be properties, and defaults must be valid.
    """
    from jsonschema import (  # type: ignore[import-untyped]
        Draft202012Validator,
        SchemaError,
    )

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path} is invalid: {error.message}"
    for place, part in _parts(schema, "parameters"):
        if not isinstance(part, dict):
            return f"{place} is no object"
        if unknown := sorted(part.keys() - _KEYWORDS):
            return f"{place} has the keyword {unknown[0]!r}"
        if not isinstance(part.get("type"), str):
            return f"{place}.type is {part.get('type')!r}"
        if part.get("enum") == []:
            return f"{place}.enum is empty"
        for name in part.get("required", ()):
            if name not in part.get("properties", {}):
                return f"{place}.required names {name!r}, which is no property"
        if "default" in part and (wrong := violation(part["default"], part)):
            return f"{place}.default: {wrong}"
    return None


def violation(value: Any, schema: dict[str, Any]) -> str | None:
    """Return where and how `value` does not satisfy a schema, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message:.200}"


def _parts(schema: Any, place: str) -> Iterator[tuple[str, Any]]:
    yield place, schema
    if isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items():
            yield from _parts(part, f"{place}.{name}")
        if "items" in schema:
            yield from _parts(schema["items"], f"{place}[]")


def _check_function(entry: Any) -> str:
    require(entry.get("type") == "function", f"a tool is of the type {entry.get('type')!r}")
    function = entry["function"]
    name = function["name"]
    # OpenAI's rule for the names of functions.
    require(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name), f"a tool is called {clip(name)}")
    json.dumps(entry, allow_nan=False)
    require(function.get("description", "").strip(), f"{name} has no description")
    schema = function["parameters"]
    error = schema_error(schema)
    require(not error, f"the schema of {name} is malformed: {error}")
    require(schema["type"] == "object", f"the parameters of {name} are no object")
    for key, part in schema.get("properties", {}).items():
        described = part.get("description", "").strip()
        require(described, f"the argument {key} of {name} has no description")
    return str(name)


def _check_agreement(actions: Any, sampler: Any, parameters: dict[str, Any]) -> None:
    """Require that the action space contains every call that satisfies the schemas."""
    probes: tuple[Any, ...] = (
        -(10**30), -1, 0, 1, 10**3, 10**6, 10**30, 0.5,
        True, None, "", "word", [], ["word"], [1], {},
    )  # fmt: skip
    calls = {call["tool"]: call for call in (sampler.sample() for _ in range(_SAMPLES))}
    for name, call in calls.items():
        for key, part in (parameters[name]["properties"] | {"no such argument": {}}).items():
            for value in (*probes, part.get("minimum"), part.get("maximum")):
                action = {"tool": name, "arguments": call["arguments"] | {key: value}}
                if violation(action["arguments"], parameters[name]) is None:
                    text = f"the schema of {name} allows {key}={value!r}, the action space does not"
                    require(actions.contains(action), text)


def _as_json(action: dict[str, Any]) -> str:
    return json.dumps(action)


def _as_call_of_text(action: dict[str, Any]) -> Any:
    return _through_a_call(action, json.dumps(action["arguments"]))


def _as_call_of_objects(action: dict[str, Any]) -> Any:
    return _through_a_call(action, copy.deepcopy(action["arguments"]))


def _through_a_call(action: dict[str, Any], arguments: Any) -> Any:
    from arena.agents import actions_from

    function = {"name": action["tool"], "arguments": arguments}
    call = {"id": "call 1", "type": "function", "function": function}
    [(call_id, again)] = actions_from({"role": "assistant", "tool_calls": [call]})
    require(call_id == "call 1", f"the call 'call 1' comes back as {clip(call_id)}")
    require(again == action, f"the action {clip(action)} comes back as {clip(again)}")
    return again


def _check_message(observation: dict[str, Any]) -> None:
    from arena.agents import tool_message

    message = tool_message("call 1", observation)
    require(
        message["role"] == "tool" and message["tool_call_id"] == "call 1",
        f"a tool message is {clip(message)}",
    )
    content = parsed(message["content"])
    require(isinstance(content, dict), f"a tool message's content is no JSON: {clip(message)}")
    shown, sent = parsed(observation["result"]), content.get("result")
    same = sent == shown and values_of("id", sent) == values_of("id", shown)
    require(same, "a tool message does not hold the result")
    require(content.get("budget") == observation["budget"], "a tool message has another budget")
