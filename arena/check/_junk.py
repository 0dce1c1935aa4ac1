"""Actions that no environment can carry out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

HUGE = "a" * 1_000_000


def wrong(tools: dict[str, Any]) -> Iterator[Any]:
    """Yield actions that are no well-formed call of one of `tools`."""
    looped: list[Any] = []
    looped.append(looped)
    yield from (None, True, 42, -1.5, float("nan"), "", " ", "search", "{", "[1", '"', "null", HUGE)
    yield from (b"\xff", "[" * 100_000, "\ud800", "\0", object(), {1, 2}, [], looped, {}, len)
    yield from ({"tool": None}, {"tool": 3}, {"tool": ["search"]}, {"tool": "no such tool"})
    yield from ({"tool": HUGE}, {"arguments": {}}, {1: 2}, {"tool": "\ud800"}, {"tool": object()})
    for name, tool in tools.items():
        yield {"tool": name, "arguments": {"no such argument": 1}}
        yield {"tool": name, "arguments": {1: 1}}
        yield {"tool": name, "extra": 1}
        for arguments in ([], "{", 1, looped):
            yield {"tool": name, "arguments": arguments}
        good = {p.name: _good(p) for p in tool.parameters if p.required}
        for parameter in tool.parameters:
            if parameter.required:
                rest = {key: value for key, value in good.items() if key != parameter.name}
                yield {"tool": name, "arguments": rest}
                yield {"tool": name, "arguments": {**good, parameter.name: None}}
            for value in _bad(parameter):
                yield {"tool": name, "arguments": {**good, parameter.name: value}}


def stress(tools: dict[str, Any]) -> Iterator[Any]:
    """Yield well-formed calls with values of unusual size and kind."""
    for name, tool in tools.items():
        texts = (HUGE, "", "\ud800\0\x1b[31m", "深" * 5_000)
        for text in texts:
            given: dict[str, Any] = {}
            for parameter in tool.parameters:
                if parameter.kind == "string" and not parameter.choices:
                    given[parameter.name] = text
                elif parameter.kind == "strings":
                    given[parameter.name] = [text] * 2_000 if len(text) < 100 else [text]
                elif parameter.kind == "object":
                    given[parameter.name] = {"label": text, "children": [{"label": text}] * 50}
            if given:
                yield {"tool": name, "arguments": given}


def _good(parameter: Any) -> Any:
    kinds = {"string": "word", "integer": 1, "strings": ["word"], "object": {"label": "word"}}
    return kinds[parameter.kind]


def _bad(parameter: Any) -> Iterator[Any]:
    deep: Any = {}
    for _ in range(50):
        deep = {"a": [deep]}
    yield from {
        "string": (5, ["word"], {"a": 1}, True, deep, b"word"),
        "integer": ("5", 1.5, [1], True, deep, float("inf")),
        "strings": ("word", 5, [1], [None], [["word"]], {"word": 1}, deep),
        "object": (5, [], [1], True, 1.5),
    }[parameter.kind]
    least, most = parameter.bounds
    if least is not None:
        yield from (least - 1, -(10**30))
    if most is not None:
        yield from (most + 1, 10**30)
    if parameter.choices:
        yield "no such choice"
