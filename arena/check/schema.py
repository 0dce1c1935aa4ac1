"""The check ``schema``."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from arena.check._episodes import difference, ids_in, parsed, replay
from arena.check._json_schema import malformed, violation
from arena.check._subject import Subject
from arena.check.base import CHECKS, require
from arena.errors import clip

_SAMPLES = 200


@CHECKS.register("schema")
def check(subject: Subject) -> str:
    """Tools have valid schemas; calls in a model's format are the same actions, to the same end."""
    from arena.tools import tool_schemas

    env = subject.make()
    schemas = tool_schemas(env)
    parameters = {}
    for entry in schemas:
        name = _well_formed(entry)
        require(name not in parameters, f"two tools are called {name}")
        parameters[name] = entry["function"]["parameters"]
    space = copy.deepcopy(env.action_space)
    space.seed(subject.seeds[0])
    for _ in range(_SAMPLES):
        _fits(space.sample(), parameters)
    _agree(env.action_space, space, parameters)
    for form in (_as_json, _as_call_of_text, _as_call_of_objects):
        env = subject.make()
        for trace in subject.traces:
            found = difference(trace, replay(env, trace, form))
            told = form.__name__.removeprefix("_as_").replace("_", " ")
            require(not found, f"the actions as {told} do otherwise: {found}")
    messages = 0
    for trace in subject.traces:
        for observation, *_ in [trace.start, *trace.steps]:
            _check_message(observation)
            messages += 1
    return f"{len(schemas)} tools, {subject.counted()} in 3 forms, {messages} messages"


def _well_formed(entry: Any) -> str:
    require(entry.get("type") == "function", f"a tool is of the type {entry.get('type')!r}")
    function = entry["function"]
    name = function["name"]
    # OpenAI's rule for the names of functions.
    require(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name), f"a tool is called {clip(name)}")
    json.dumps(entry, allow_nan=False)
    require(function.get("description", "").strip(), f"{name} has no description")
    schema = function["parameters"]
    found = malformed(schema)
    require(not found, f"the schema of {name} is malformed: {found}")
    require(schema["type"] == "object", f"the parameters of {name} are no object")
    for key, part in schema.get("properties", {}).items():
        said = part.get("description", "").strip()
        require(said, f"the argument {key} of {name} has no description")
    return str(name)


def _fits(action: dict[str, Any], parameters: dict[str, Any]) -> None:
    require(action["tool"] in parameters, f"a sample calls {clip(action['tool'])}, no tool")
    found = violation(action["arguments"], parameters[action["tool"]])
    require(not found, f"a sample of {action['tool']} does not satisfy its schema: {found}")


def _agree(actions: Any, space: Any, parameters: dict[str, Any]) -> None:
    """Require that a model which keeps to the schemas is never told that its call is malformed."""
    probes: tuple[Any, ...] = (
        -(10**30), -1, 0, 1, 10**3, 10**6, 10**30, 0.5,
        True, None, "", "word", [], ["word"], [1], {},
    )  # fmt: skip
    calls = {call["tool"]: call for call in (space.sample() for _ in range(_SAMPLES))}
    for name, call in calls.items():
        for key, part in (parameters[name]["properties"] | {"no such argument": {}}).items():
            for value in (*probes, part.get("minimum"), part.get("maximum")):
                action = {"tool": name, "arguments": call["arguments"] | {key: value}}
                if violation(action["arguments"], parameters[name]) is None:
                    told = f"the schema of {name} allows {key}={value!r}, the action space does not"
                    require(actions.contains(action), told)


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
    shown, told = parsed(observation["result"]), content.get("result")
    same = told == shown and list(ids_in(told)) == list(ids_in(shown))
    require(same, "a tool message does not hold the result")
    require(content.get("budget") == observation["budget"], "a tool message has another budget")
