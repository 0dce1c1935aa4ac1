"""The checks ``gymnasium``, ``space`` and ``schema``: spaces, and tools as models see them."""

from __future__ import annotations

import copy
import json
import re
import timeit
import warnings
from typing import Any

from arena.errors import clip
from arena.testing.attacks import probes
from arena.testing.contract import Subject
from arena.testing.report import CHECKS, require
from arena.testing.walk import plain

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
    env, seed = subject.make(), subject.seeds[0]
    actions, observations = env.action_space, env.observation_space
    samples = _samples(actions, seed)
    require(samples == _samples(actions, seed), "the same seed gives other samples")
    require(samples != _samples(actions, seed + 1), "another seed gives no others")
    if missing := set(subject.tools) - {sample["tool"] for sample in samples}:
        require(False, f"{_SAMPLES} samples have no call of {', '.join(sorted(missing))}")
    texts = (json.dumps(s, ensure_ascii=ascii) for s in samples for ascii in (True, False))
    seen = [step[0] for trace in subject.traces for step in (trace.start, *trace.steps)]
    last = seen[-1]
    inside = [(actions, action) for action in (*samples, *texts)]
    inside += [(observations, each) for each in (*seen, last | {"result": _SCRIPTS})]
    others: tuple[Any, ...] = (None, [], "", {}, last | {"result": 5}, last | {"more": 1})
    outside = [(actions, probe.action) for probe in probes(subject.tools) if not probe.allowed]
    outside += [(observations, each) for each in others]
    for number, (own, value) in enumerate([*inside, *outside]):
        try:
            contained = own.contains(value)
        except Exception as error:
            require(False, f"contains({clip(value)}) raised {type(error).__name__}: {error}")
        what = "is not contained" if number < len(inside) else "is contained"
        require(contained is (number < len(inside)), f"{clip(value)} {what}")
    long = (_SCRIPTS * _LONG)[:_LONG]
    call = next((s for s in samples if "query" in s["arguments"]), samples[0])
    filled = call | {"arguments": call["arguments"] | {"query": long}}
    _check_speed("observation", observations, last | {"result": long})
    for action in (filled, long, json.dumps(filled)):
        _check_speed("action", actions, action)
    return f"{_SAMPLES} samples, {subject.counted()}, texts of {_LONG:,} characters"


def _samples(actions: Any, seed: int) -> list[Any]:
    own = copy.deepcopy(actions)
    own.seed(seed)
    return [plain(own.sample()) for _ in range(_SAMPLES)]


def _check_speed(name: str, space: Any, value: Any) -> None:
    least = min(timeit.repeat(lambda: space.contains(value), number=1, repeat=_TRIES))
    require(least < _QUICK, f"contains() of an {name} takes {least * 1e3:.1f} ms")


@CHECKS.register("schema")
def schema(subject: Subject) -> str:
    """Tools have valid schemas; a sample satisfies them, and what does is a valid call."""
    from arena.tools import tool_schemas

    env, parameters = subject.make(), {}
    for entry in tool_schemas(env):
        function = entry["function"]
        name = function["name"]
        require(entry.get("type") == "function", f"{name} is of the type {entry.get('type')!r}")
        # OpenAI's rule for the names of functions.
        require(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name), f"a tool is called {clip(name)}")
        require(name not in parameters, f"two tools are called {name}")
        json.dumps(entry, allow_nan=False)
        parameters[name] = function["parameters"]
        error = schema_error(parameters[name])
        require(not error, f"the schema of {name} is malformed: {error}")
        require(parameters[name]["type"] == "object", f"the parameters of {name} are no object")
        described = [(name, function), *parameters[name].get("properties", {}).items()]
        for key, part in described:
            where = name if part is function else f"the argument {key} of {name}"
            require(part.get("description", "").strip(), f"{where} has no description")
    actions = copy.deepcopy(env.action_space)
    actions.seed(subject.seeds[0])
    for action in (actions.sample() for _ in range(_SAMPLES)):
        tool = action["tool"]
        require(tool in parameters, f"a sample calls {clip(tool)}, no tool")
        error = violation(action["arguments"], parameters[tool])
        require(not error, f"a sample of {tool} does not satisfy its schema: {error}")
    for probe in probes(parameters):
        text = f"the schema of {probe.tool} allows {probe.what}, the action space does not"
        require(not probe.allowed or actions.contains(probe.action), text)
    return f"{len(parameters)} tools, {_SAMPLES} samples"


def schema_error(schema: Any, place: str = "parameters") -> str | None:
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
        return f"{place}: {error.json_path} is invalid: {error.message}"
    if not isinstance(schema, dict):
        return f"{place} is no object"
    if unknown := sorted(schema.keys() - _KEYWORDS):
        return f"{place} has the keyword {unknown[0]!r}"
    if not isinstance(schema.get("type"), str):
        return f"{place}.type is {schema.get('type')!r}"
    if schema.get("enum") == []:
        return f"{place}.enum is empty"
    if missing := sorted(set(schema.get("required", ())) - schema.get("properties", {}).keys()):
        return f"{place}.required names {missing[0]!r}, which is no property"
    if "default" in schema and (wrong := violation(schema["default"], schema)):
        return f"{place}.default: {wrong}"
    parts = {f"{place}.{name}": part for name, part in schema.get("properties", {}).items()}
    parts |= {f"{place}[]": schema["items"]} if "items" in schema else {}
    return next(filter(None, (schema_error(part, where) for where, part in parts.items())), None)


def violation(value: Any, schema: dict[str, Any]) -> str | None:
    """Return where and how `value` does not satisfy a schema, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message:.200}"
