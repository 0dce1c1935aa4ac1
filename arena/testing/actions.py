"""Odd actions, made from the JSON schemas of an environment's tools.

No tool is named here: one that is added to an environment is called like all others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from arena.errors import clip

Schemas = Mapping[str, dict[str, Any]]
"""Name of a tool -> JSON schema of its arguments."""

_HUGE = "a" * 1_000_000
_DEEP: Any = json.loads(50 * '{"a": [' + 50 * "]}")
_LOOPED: list[Any] = []
_LOOPED.append(_LOOPED)
_NO_CALLS: tuple[Any, ...] = (
    None, True, 42, -1.5, float("nan"), "", " ", "search", "{", "[1", '"', "null", _HUGE, b"\xff",
    "[" * 100_000, "\ud800", "\0", object(), {1, 2}, [], _LOOPED, {}, len, {"tool": None},
    {"tool": 3}, {"tool": ["search"]}, {"tool": "no such tool"}, {"tool": _HUGE},
    {"arguments": {}}, {1: 2}, {"tool": "\ud800"}, {"tool": object()},
)  # fmt: skip
"""Actions that call no tool."""
_VALUES: tuple[Any, ...] = (
    None, True, "true", 0, 1, 5, "5", 10**3, 10**6, 10**30, -1, -(10**30), 0.5, float("inf"),
    "", "word", b"word", "\ud800\0\x1b[31m", "深" * 5_000, _HUGE, [], ["word"], [1], [None],
    [["word"]], [""] * 2_000, [_HUGE], {}, {"a": 1}, _DEEP, {"label": _HUGE},
    {"label": "", "children": [{"label": "\ud800\0"}] * 50},
)  # fmt: skip
"""Values for any argument."""


def schemas_of(env: Any) -> dict[str, dict[str, Any]]:
    """Return the schemas of the arguments of all tools of an environment, scalar or vector."""
    from arena.tools import tool_schemas

    functions = [entry["function"] for entry in tool_schemas(env)]
    return {function["name"]: function["parameters"] for function in functions}


class Probe(NamedTuple):
    """An odd action."""

    action: Any
    allowed: bool  # whether it is a call that satisfies the schema of its tool
    tool: str = ""  # empty if it is no call
    what: str = ""  # the argument that is odd, and its value


def probes(tools: Schemas) -> Iterator[Probe]:
    """Yield actions that are no calls, and calls of each tool with one odd argument.

    An argument is missing or unknown, or has a value of another type, of unusual size, at a bound
    or beyond it. The schema of the tool says which of these calls are allowed. Left out is what
    environments accept though the schema does not: null for an optional argument, and an object
    as text.
    """
    for action in _NO_CALLS:
        yield Probe(action, False)
    for tool, schema in tools.items():
        (good, *_), *odd = _odd_arguments(json.dumps(schema))
        call: dict[str, Any] = {"tool": tool, "arguments": dict(good)}
        changes: list[dict[str, Any]] = [{"tool": tool.upper()}, {"extra": 1}]
        changes += [{"arguments": value} for value in ([], "{", 1, _LOOPED, {1: 1})]
        yield from (Probe(call | change, False, tool) for change in changes)
        for arguments, allowed, what in odd:
            yield Probe(call | {"arguments": dict(arguments)}, allowed, tool, what)


@lru_cache(256)  # an audit makes many environments with the same tools
def _odd_arguments(schema_text: str) -> list[tuple[dict[str, Any], bool, str]]:
    """Return (arguments, whether the schema allows them, what is odd); of the first nothing is."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    schema = json.loads(schema_text)
    properties, required = schema.get("properties", {}), schema.get("required", ())
    good = {name: _plain_value(properties[name]) for name in required}
    odd = [(good, "")]
    odd += [({k: v for k, v in good.items() if k != key}, f"no {key}") for key in required]
    for key in ("no such argument", "cutoff", "exclude", "labels"):
        odd.append((good | {key: "2100-01-01"}, key))
    for key, part in properties.items():
        bounds = [part[b] + d for b in ("minimum", "maximum") for d in (0, -1, 1) if b in part]
        for value in (*_VALUES, *bounds):
            is_null = value is None and key not in required
            if not is_null and not (part["type"] == "object" and isinstance(value, str)):
                odd.append((good | {key: value}, f"{key}={clip(value)}"))
    is_valid = Draft202012Validator(schema).is_valid
    return [(arguments, is_valid(arguments), what) for arguments, what in odd]


def _plain_value(part: Mapping[str, Any]) -> Any:
    """Return a value of an argument with nothing odd about it."""
    if part.get("enum"):
        return part["enum"][0]
    kinds = {"integer": part.get("minimum", 1), "array": ["word"], "object": {"label": "map"}}
    return kinds.get(part["type"], "word")
