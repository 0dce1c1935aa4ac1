"""The JSON schema of a tool."""

from __future__ import annotations

from typing import Any

from arena.tools.base import Parameter, Tool

_STRINGS = {"type": "array", "items": {"type": "string"}}
_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "strings": _STRINGS,
    "object": {"type": "object"},
}


def schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of the arguments of `tool`."""
    return {
        "type": "object",
        "properties": {p.name: _parameter(p) for p in tool.parameters},
        "required": [p.name for p in tool.parameters if p.required],
        "additionalProperties": False,
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    said = dict(_TYPES[parameter.kind])
    said["description"] = parameter.description
    for name, bound in zip(("minimum", "maximum"), parameter.bounds, strict=True):
        if bound is not None:
            said[name] = bound
    if parameter.choices:
        said["enum"] = list(parameter.choices)
    if parameter.default is not None:
        said["default"] = parameter.default
    return said
