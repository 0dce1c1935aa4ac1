"""Actions as calls of tools: anything an agent may send, converted to JSON and checked."""

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
_MISSING = object()
_MAX_NESTING = 200
_MAX_PARTS = 1_000_000
_FORM = 'Write {"tool": "search", "arguments": {"query": "..."}}.'


class Call(NamedTuple):
    """A well-formed call."""

    tool: Tool
    arguments: dict[str, Any]


def parse_action(action: object, tools: Mapping[str, Tool]) -> Call | str:
    """Return the call that `action` stands for, or one sentence on what is wrong with it.

    Args:
        action: A mapping with ``tool`` and ``arguments``, or the same as JSON text.
        tools: Known tools by name.
    """
    if not _is_plain_call(action):
        try:
            action = _load(action) if isinstance(action, str | bytes) else _json_value(action)
        except _NotJsonError as error:
            return f"the action {error}. {_FORM}"
    return _parse(action, tools)


def json_action(action: object) -> Any:
    """Return `action` as a JSON value, which is what a run plays and records.

    Tuples become lists, mappings objects, NumPy's numbers numbers, and bytes text. An action that
    JSON cannot hold becomes a text that names what it holds, such as ``"(holds a set)"``; an
    environment refuses it as any other text that is not JSON.
    """
    try:
        if isinstance(action, bytes):
            action = action.decode(json.detect_encoding(action), "surrogatepass")
        return _json_value(action)
    except _NotJsonError as error:
        return f"({error.what})"
    except Exception:  # text in no encoding
        return f"(holds a {type(action).__name__})"


class _NotJsonError(Exception):
    """An action that is no JSON; `what` it holds that JSON cannot, empty for a text."""

    def __init__(self, message: str, what: str = "") -> None:
        super().__init__(message)
        self.what = what


def _holds(what: str) -> _NotJsonError:
    return _NotJsonError(f"holds a {what}, which JSON cannot hold", f"holds a {what}")


def _is_plain_call(action: object) -> bool:
    """Return whether `action` is a call whose parts are exactly of JSON's own simple types.

    Most calls are. They need no conversion, which would cost more than the rest of a step.
    """
    if type(action) is not dict or len(action) != 2:
        return False
    arguments = action.get("arguments")
    if type(action.get("tool")) is not str or type(arguments) is not dict:
        return False
    for name, value in arguments.items():
        kind = type(value)
        if type(name) is not str or not (
            kind is str
            or (kind is int and -(10**18) < value < 10**18)
            or value is None
            or (kind is list and all(type(item) is str for item in value))
        ):
            return False
    return True


def _json_value(value: object) -> Any:
    """Return `value` as it comes back from JSON text.

    An error names the type at fault, not the value, which may hold an address or a set's order.
    """
    try:
        if has_many_parts(value, _MAX_PARTS):
            raise RecursionError
        converted = json.loads(json.dumps(value, allow_nan=False, default=_to_json))
        if _nests_too_deep(converted):
            raise RecursionError
        return converted
    except _NotJsonError:
        raise
    except (TypeError, RecursionError):
        what = "key that is no string, or too much nesting"
    except ValueError:
        what = "number that is not finite or of thousands of digits, or itself"
    except Exception:  # an object of Python may do anything when it is looked at
        what = type(value).__name__
    raise _holds(what)


def _to_json(item: object) -> object:
    if isinstance(item, np.bool_ | np.integer | np.floating):
        return item.item()
    if isinstance(item, Mapping):
        return dict(item)
    raise _holds(type(item).__name__)


def _load(text: str | bytes) -> Any:
    try:
        value = json.loads(text)
        too_deep = len(text) > _MAX_NESTING and _nests_too_deep(value)
    except ValueError:
        raise _NotJsonError(f"{clip(text)} is no JSON") from None
    except RecursionError:
        too_deep = True
    if too_deep:
        raise _NotJsonError(f"{clip(text)} is no JSON of at most {_MAX_NESTING} levels")
    return value


def _nests_too_deep(value: Any) -> bool:
    """Return whether a JSON value nests more than `_MAX_NESTING` levels.

    Python's own limit depends on the depth of the caller, so the answer would, too.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_MAX_NESTING + 1):
        parts = [item.values() if isinstance(item, dict) else item for item in level]
        level = [part for some in parts for part in some if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _parse(action: Any, tools: Mapping[str, Tool]) -> Call | str:
    """Return the call that a JSON value stands for, or what is wrong with it."""
    if not isinstance(action, dict):
        return f"the action {clip(action)} is no object. {_FORM}"
    if extra := [key for key in action if key not in ("tool", "arguments")]:
        return f"an action has no key {clip(extra[0])}. {_FORM}"
    name, arguments = action.get("tool"), action.get("arguments", {})
    if not isinstance(name, str) or name not in tools:
        return f"no tool {clip(name)}.{did_you_mean(name, tools)}"
    tool = tools[name]
    if not isinstance(arguments, dict):
        return f"arguments={clip(arguments)} is no object. Call {tool.usage()}."
    rest = dict(arguments)
    checked = {}
    for wanted, kind, default, required, _, bounds, choices in tool.parameters:
        value = rest.pop(wanted, _MISSING)
        if not required and (value is _MISSING or value is None):
            checked[wanted] = default
            continue
        if value is _MISSING:
            return f"{name} needs the argument {wanted!r}. Call {tool.usage()}."
        checked[wanted] = converted = _converted(value, kind)
        if converted is None:
            return f"{wanted}={clip(value)} is not {_EXPECTED[kind]}. Call {tool.usage()}."
        least, most = bounds
        if (least is not None and converted < least) or (most is not None and converted > most):
            span = f"{least} or more" if most is None else f"from {least} to {most}"
            return f"{wanted}={clip(value)} is out of range. Give {wanted} {span}."
        if choices and converted not in choices:
            return f"no {wanted} {clip(value)}.{did_you_mean(converted, choices)}"
    if rest:
        return f"{name} takes no argument {clip(next(iter(rest)))}. Call {tool.usage()}."
    return Call(tool, checked)


def _converted(value: Any, kind: str) -> Any:
    """Return `value` as the type that `kind` names, or None if it has another type."""
    if kind == "integer":
        # JSON has one type of number, and models write 10.0 for 10.
        is_float = isinstance(value, float) and value.is_integer()
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return int(value) if is_integer or is_float else None
    if kind == "strings":
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    else:  # models write an object as text now and then; its tool reads both
        fits = isinstance(value, str if kind == "string" else dict | str)
    return value if fits else None
