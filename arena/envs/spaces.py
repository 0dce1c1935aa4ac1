"""Spaces for text and tool calls.

Gymnasium's own Text space has a fixed alphabet, walks over every character in ``contains`` and
cannot be sampled with a Unicode one; observations here are kilobytes of any script.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gymnasium.spaces import Space

from arena.tools import Tool, parse_action

# ASCII, accents, Greek, Cyrillic, Han, an emoji beyond the basic plane, JSON's own characters.
_SAMPLE = 'abcdefghijklmnopqrstuvwxyz 0123456789éßλжя深学🜁"\\{}[]\n'


class TextSpace(Space[str]):
    """Any string of at most `max_length` characters, of any script.

    >>> TextSpace(5).contains("naïve"), TextSpace(5).contains("longer")
    (True, False)
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(shape=None, dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed number of elements."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a short random text."""
        length = int(self.np_random.integers(0, min(self.max_length, 24) + 1))
        return "".join(_SAMPLE[i] for i in self.np_random.integers(0, len(_SAMPLE), length))

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string that is short enough; constant time."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"TextSpace({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextSpace) and other.max_length == self.max_length


class ToolCallSpace(Space[Any]):
    """Well-formed tool calls: ``{"tool": name, "arguments": {...}}`` or the same as JSON text.

    `sample` draws calls that fit the tools' signatures. Within an episode their words are those of
    the topic and their ids those of papers that the episode has shown. An environment also accepts
    anything else as an action: it answers with what is wrong.
    """

    def __init__(self, tools: Mapping[str, Tool], seed: int | None = None) -> None:
        self.tools = dict(tools)
        self.update_context("", ())
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A call has no fixed number of elements."""
        return False

    def update_context(self, topic: str, shown: Collection[str]) -> None:
        """Draw words of `topic` and ids of `shown`, which may grow, from now on."""
        self._words, self._shown = topic.split(), shown

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random call with a random choice of the optional arguments."""
        # Without a paper there is nothing to read: a tool that needs an id is not drawn.
        tools = [
            tool
            for tool in self.tools.values()
            if self._shown
            or not self._words
            or not any(
                _is_id(name) and tool.schema["properties"][name]["type"] == "string"
                for name in tool.schema["required"]
            )
        ]
        tool = self._one(tools)
        given = {*tool.schema["required"], *([self._one(tool.either)] if tool.either else ())}
        arguments = {
            name: self._value(name, part)
            for name, part in tool.schema["properties"].items()
            if name in given or (name not in tool.either and self.np_random.integers(2))
        }
        return {"tool": tool.name, "arguments": arguments}

    def _value(self, name: str, part: Mapping[str, Any]) -> Any:
        if "enum" in part:
            return self._one(part["enum"])
        if part["type"] == "boolean":
            return bool(self.np_random.integers(2))
        if part["type"] == "integer":
            least = part.get("minimum", 0)
            most = min(part.get("maximum", least + 20), least + 20)
            return int(self.np_random.integers(least, most + 1))
        if part["type"] == "number":
            least, most = part.get("minimum", 0), part.get("maximum", 1)
            return round(float(self.np_random.uniform(least, most)), 2)
        if part["type"] == "object":
            leaves = [
                {"label": word, "children": [], "papers": self._ids()}
                for word in self._some_words()
            ]
            return {"label": " ".join(self._some_words()), "children": leaves, "papers": []}
        if "[@" in part["description"]:
            cited = "; ".join(f"@{paper_id}" for paper_id in self._ids())
            return " ".join([*self._some_words(), *[f"[{cited}]."] * bool(cited)])
        drawn = self._ids() if _is_id(name) and self._words else self._some_words()
        return (
            drawn if part["type"] == "array" else " ".join(drawn if not _is_id(name) else drawn[:1])
        )

    def _some_words(self) -> list[str]:
        """Return two words of the topic; of letters before the first episode."""
        if self._words:
            return [self._one(self._words) for _ in range(2)]
        letters = self.np_random.integers(0, 26, (2, 5))
        return ["".join(_SAMPLE[i] for i in word) for word in letters]

    def _ids(self) -> list[str]:
        """Return up to two papers that were shown."""
        return list(
            dict.fromkeys(self._one(list(self._shown)) for _ in range(2 * bool(self._shown)))
        )

    def _one(self, items: Sequence[Any]) -> Any:
        return items[int(self.np_random.integers(len(items)))]

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a call that fits one of the tools' signatures."""
        return not isinstance(parse_action(x, self.tools), str)

    def __repr__(self) -> str:
        return f"ToolCallSpace({', '.join(self.tools)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCallSpace) and other.tools == self.tools


def _is_id(name: str) -> bool:
    """Return whether an argument names papers, as ``paper_id`` and ``paper_ids`` do."""
    return name.removesuffix("s").endswith("id")
