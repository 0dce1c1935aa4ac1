"""Actions made from the JSON schemas of an environment's tools: random play, and odd calls.

No tool is named here but as a hint: one that is added to an environment is called like all others.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from arena.errors import clip
from arena.testing.walk import parsed, values_of

Schemas = Mapping[str, dict[str, Any]]
"""Name of a tool -> JSON schema of its arguments."""

ENDINGS = ("submit", "organize", "finish")
"""Tools that end a stage; random play calls them rarely before its last step."""

_ABOUT_PAPERS = re.compile(r"\b(ids?|papers?)\b")
_ABOUT_TEXT = re.compile(r"\b(query|queries|words?|keywords?|texts?|titles?|topics?|question)\b")

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
    """An odd action.

    Attributes:
        action: The action.
        allowed: Whether it is a call that satisfies the schema of its tool.
        tool: Name of the tool; empty if it is no call.
        what: The argument that is odd, and its value.
    """

    action: Any
    allowed: bool
    tool: str = ""
    what: str = ""


def probes(tools: Schemas) -> Iterator[Probe]:
    """Yield actions that are no calls, and calls of each tool with one odd argument.

    An argument is missing or unknown, or has a value of another type, of unusual size, at a bound
    or beyond it. The schema of the tool says which of these calls are allowed. Left out is what
    environments accept though the schema does not: null for an optional argument, and an object
    as text.
    """
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    for action in _NO_CALLS:
        yield Probe(action, False)
    player = RandomPlayer(tools, random.Random(0))
    for tool, schema in tools.items():
        good, required = player.draw(schema), schema.get("required", ())
        call: dict[str, Any] = {"tool": tool, "arguments": good}
        changes: list[dict[str, Any]] = [{"tool": tool.upper()}, {"extra": 1}]
        changes += [{"arguments": value} for value in ([], "{", 1, _LOOPED, {1: 1})]
        yield from (Probe(call | change, False, tool) for change in changes)
        odd = [({k: v for k, v in good.items() if k != key}, f"no {key}") for key in required]
        for key in ("no such argument", "cutoff", "exclude", "labels"):
            odd.append((good | {key: "2100-01-01"}, key))
        for key, part in schema.get("properties", {}).items():
            bounds = [part[b] + d for b in ("minimum", "maximum") for d in (0, -1, 1) if b in part]
            for value in (*_VALUES, *bounds):
                is_null = value is None and key not in required
                if not is_null and not (part["type"] == "object" and isinstance(value, str)):
                    odd.append((good | {key: value}, f"{key}={clip(value)}"))
        validator = Draft202012Validator(schema)
        for arguments, what in odd:
            allowed = validator.is_valid(arguments)
            yield Probe(call | {"arguments": arguments}, allowed, tool, what)


class RandomPlayer:
    """Plays at random with the ids and the words of titles that results have shown.

    Args:
        tools: Schemas of the tools.
        rng: Source of randomness.
        steps: Number of steps that will be played.
    """

    usual = 0.7
    """Chance that a number is the default, or the least if there is no default."""

    def __init__(self, tools: Schemas, rng: random.Random, steps: int = 0) -> None:
        self.tools, self.rng, self._left = tools, rng, steps
        self._ids: dict[str, None] = {}
        self._words: dict[str, None] = {}

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Return the next action."""
        result = parsed(observation["result"])
        self._ids |= dict.fromkeys(values_of("id", result))
        for text in (observation["topic"], *values_of("title", result)):
            self._words |= dict.fromkeys(text.split())
        self._left -= 1
        if not self._ids and "search" in self.tools:
            most = self.tools["search"]["properties"].get("k", {}).get("maximum", 50)
            arguments = {"query": observation["topic"], "k": min(50, most)}
            return {"tool": "search", "arguments": arguments}
        tool = self.rng.choice(list(self.tools))
        while self._left > 0 and tool in ENDINGS and self.rng.random() < 0.8:
            tool = self.rng.choice(list(self.tools))
        return {"tool": tool, "arguments": self.draw(self.tools[tool])}

    def paper_id(self) -> str:
        """Draw an id that was shown, now and then another text."""
        return self.rng.choice(list(self._ids)) if self._ids and self.rng.random() < 0.9 else "none"

    def paper_ids(self) -> list[str]:
        """Draw ids that were shown, now and then another text."""
        ids = self.rng.sample(list(self._ids), min(30, len(self._ids)))
        return ids if self.rng.random() < 0.9 else ["none", *ids]

    def text(self) -> str:
        """Draw a query: words of the topic and of titles."""
        return " ".join(self.rng.sample(list(self._words), min(3, len(self._words))))

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map, the value of an object."""
        ids = self.paper_ids()
        parts = [{"label": f"part {n}", "children": [], "papers": ids[n::3]} for n in range(3)]
        return {"label": "map", "children": parts, "papers": []}

    def draw(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Draw a value for every required and for half of the optional arguments."""
        required = schema.get("required", ())
        return {
            name: self._value(name, part)
            for name, part in schema.get("properties", {}).items()
            if name in required or self.rng.random() < 0.5
        }

    def _value(self, name: str, part: Mapping[str, Any]) -> Any:
        if part.get("enum"):
            return self.rng.choice(part["enum"])
        if part["type"] == "integer":
            return self._integer(part)
        if part["type"] == "object":
            return self.tree()
        about_papers = _is_about_papers(name, part)
        if part["type"] == "array":
            return [self.text() for _ in range(3)] if about_papers is False else self.paper_ids()
        if about_papers is None:
            about_papers = self.rng.random() < 0.5
        return self.paper_id() if about_papers else self.text()

    def _integer(self, part: Mapping[str, Any]) -> int:
        rng, least = self.rng, part.get("minimum", 0)
        most = part.get("maximum", max(least, 10**12))
        if rng.random() < self.usual:
            return int(part.get("default", least))
        near = [
            min(most, least + more) for more in (0, 1, 9, rng.randint(0, 5), rng.randint(0, 99))
        ]
        return int(rng.choice([*near, most]))


def _is_about_papers(name: str, part: Mapping[str, Any]) -> bool | None:
    """Return whether a string argument is an id (True), a text (False) or may be either (None)."""
    for words in (name.replace("_", " "), part.get("description", "")):
        if _ABOUT_PAPERS.search(words.lower()):
            return True
        if _ABOUT_TEXT.search(words.lower()):
            return False
    return None
