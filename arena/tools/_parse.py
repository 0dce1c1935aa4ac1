"""What an agent may write as an action, checked, with an answer for everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.errors import clip, did_you_mean, has_many_parts
from arena.tools.base import Tool

_EXPECTED = {
    "string": "a string",
    "integer": "an integer",
    "strings": "a list of strings",
    "object": "an object",
}
_Bounds = tuple[int | None, int | None]
_MISSING = object()
# Tuples made once are quicker to check than unions, and most actions are plain dicts.
_TEXT = (str, bytes)
_MAPPING = (dict, Mapping)
_NUMBER = (int, np.integer)
_CONTAINER = (dict, list, tuple, Mapping)
_MAX_NESTING = 200
_MAX_PARTS = 1_000_000
_TOO_DEEP = "key that is no string, or too much nesting"
_FORM = 'Write {"tool": "search", "arguments": {"query": "..."}}.'


class Call(NamedTuple):
    """A well-formed call."""

    tool: Tool
    arguments: dict[str, Any]


def parse_action(action: object, tools: Mapping[str, Tool]) -> Call | str:
    """Return the call that `action` stands for, or one sentence on what is wrong with it.

    Args:
        action: a mapping with ``tool`` and ``arguments``, or the same as JSON text.
        tools: the known tools by name.
    """
    try:
        found = _parse(action, tools)
        if isinstance(found, str) and (kind := not_json(action)):
            # What it looks like may hold an address or the order of a set, which always differ.
            return f"the action holds a {kind}, which JSON cannot hold. {_FORM}"
        return found
    except Exception:  # an object of Python may do anything when it is looked at
        return f"the action holds a {type(action).__name__}, which JSON cannot hold. {_FORM}"


def refusal(action: object) -> str:
    """Return the answer to an action that holds what JSON cannot hold."""
    try:
        kind = not_json(action)
    except Exception:
        kind = None
    return f"the action holds a {kind or type(action).__name__}, which JSON cannot hold. {_FORM}"


def json_action(action: object) -> Any:
    """Return `action` as a JSON value, which is what a run plays and records.

    Tuples become lists, mappings objects, NumPy's numbers numbers, and bytes text. An action that
    JSON cannot hold becomes a text that names what it holds, such as ``"(holds a set)"``; an
    environment refuses it as any other text that is not JSON.
    """
    try:
        if isinstance(action, bytes):
            action = action.decode(json.detect_encoding(action), "surrogatepass")
        problem = not_json(action)
        if problem is None:
            return json.loads(json.dumps(action, default=_to_json))
    except Exception:  # an object of Python may do anything when it is looked at
        problem = type(action).__name__
    return f"(holds a {problem})"


def not_json(value: object) -> str | None:
    """Return the type of the first thing in `value` that JSON cannot hold, or None.

    NumPy's numbers count as numbers, mappings as objects, bytes at the top as text.
    """
    odd: list[str] = []

    def refuse(item: object) -> object:
        try:
            return _to_json(item)
        except TypeError:
            odd.append(type(item).__name__)
            raise

    if isinstance(value, bytes):
        return None
    if _nests_too_deep(value) or has_many_parts(value, _MAX_PARTS):
        return _TOO_DEEP
    try:
        json.dumps(value, allow_nan=False, default=refuse)
    except ValueError:
        return "number that is not finite or of thousands of digits, or itself"
    except (TypeError, RecursionError):
        return odd[0] if odd else _TOO_DEEP
    return None


def _to_json(item: object) -> object:
    if isinstance(item, np.bool_ | np.integer | np.floating):
        return item.item()
    if isinstance(item, Mapping):
        return dict(item)
    raise TypeError(type(item).__name__)


def _nests_too_deep(value: object) -> bool:
    """Return whether lists and mappings nest more than `_MAX_NESTING` levels.

    Python's own limit depends on who calls, so an answer would.
    """
    level: list[Any] = [value]
    for _ in range(_MAX_NESTING + 1):
        inside: dict[int, Any] = {}  # shared parts once: they may be shared on every level
        for item in level:
            parts: Any = item.values() if isinstance(item, Mapping) else item
            if isinstance(item, _CONTAINER):
                inside.update((id(p), p) for p in parts if isinstance(p, _CONTAINER))
        level = list(inside.values())
        if not level:
            return False
    return True


def _parse(action: object, tools: Mapping[str, Tool]) -> Call | str:
    if isinstance(action, _TEXT):
        text = action
        brackets = text.count("[") + text.count("{") if isinstance(text, str) else len(text)
        try:
            action = json.loads(text)
            too_deep = brackets > _MAX_NESTING and _nests_too_deep(action)
        except ValueError:
            return f"the action {clip(text)} is no JSON. {_FORM}"
        except RecursionError:
            too_deep = True
        if too_deep:
            return f"the action {clip(text)} is no JSON of at most {_MAX_NESTING} levels. {_FORM}"
    if not isinstance(action, _MAPPING):
        return f"the action {clip(action)} is no object. {_FORM}"
    if extra := [key for key in action if key not in ("tool", "arguments")]:
        return f"an action has no key {clip(extra[0])}. {_FORM}"
    name, arguments = _plain(action.get("tool")), action.get("arguments", {})
    if not isinstance(name, str) or name not in tools:
        return f"no tool {clip(name)}.{did_you_mean(name, tools)}"
    tool = tools[name]
    if not isinstance(arguments, _MAPPING):
        return f"arguments={clip(arguments)} is no object. Call {tool.usage()}."
    given = {_plain(key): value for key, value in arguments.items()}
    checked = {}
    for parameter in tool.parameters:
        wanted, kind, default, required, _, bounds, choices = parameter
        value = given.pop(wanted, _MISSING)
        if not required and (value is _MISSING or value is None):
            checked[wanted] = default
            continue
        if value is _MISSING:
            return f"{name} needs the argument {wanted!r}. Call {tool.usage()}."
        checked[wanted] = converted = _converted(value, kind)
        if converted is None:
            return f"{wanted}={clip(value)} is not {_EXPECTED[kind]}. Call {tool.usage()}."
        if kind == "integer" and not _within(converted, bounds):
            return f"{wanted}={clip(value)} is out of range. Give {wanted} {_said(bounds)}."
        if choices and converted not in choices:
            return f"no {wanted} {clip(value)}.{did_you_mean(converted, choices)}"
    if given:
        return f"{name} takes no argument {clip(next(iter(given)))}. Call {tool.usage()}."
    return Call(tool, checked)


def _converted(value: object, kind: str) -> Any:
    """Return `value` as exactly the type that `kind` names, or None if it is none."""
    if kind == "string":
        return _plain(value) if isinstance(value, str) else None
    if kind == "integer":
        if isinstance(value, _NUMBER) and not isinstance(value, bool):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)  # JSON has one kind of number, and models write 10.0 for 10
        return None
    if kind == "object":  # models write an object as text now and then; its tool reads both
        return value if isinstance(value, dict | str) else None
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return [_plain(item) for item in value]
    return None


def _within(value: int, bounds: _Bounds) -> bool:
    least, most = bounds
    return (least is None or value >= least) and (most is None or value <= most)


def _said(bounds: _Bounds) -> str:
    least, most = bounds
    return f"{least} or more" if most is None else f"from {least} to {most}"


def _plain(value: object) -> Any:
    """Return a string as a `str` itself: a subclass may bring an equality of its own."""
    return str.__str__(value) if type(value) is not str and isinstance(value, str) else value
