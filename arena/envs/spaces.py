"""Spaces for text and tool calls.

Gymnasium's own Text space has a fixed alphabet, walks over every character in ``contains`` and
cannot be sampled with a Unicode one; observations here are kilobytes of any script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.spaces import Space

from arena.tools import Parameter, Tool, parse_action

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

    `sample` gives calls that fit the tools' signatures. An environment also accepts anything
    else as an action: it answers with what is wrong.
    """

    def __init__(self, tools: Mapping[str, Tool], seed: int | None = None) -> None:
        self.tools = dict(tools)
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A call has no fixed number of elements."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random call with a random choice of the optional arguments."""
        names = list(self.tools)
        tool = self.tools[names[int(self.np_random.integers(len(names)))]]
        arguments = {
            parameter.name: self._value(parameter)
            for parameter in tool.parameters
            if parameter.required or self.np_random.integers(2)
        }
        return {"tool": tool.name, "arguments": arguments}

    def _value(self, parameter: Parameter) -> Any:
        if parameter.choices:
            return parameter.choices[int(self.np_random.integers(len(parameter.choices)))]
        if parameter.kind == "integer":
            least, most = parameter.bounds
            least = 0 if least is None else least
            most = least + 20 if most is None else min(most, least + 20)
            return int(self.np_random.integers(least, most + 1))
        words = [self._word() for _ in range(2)]
        if parameter.kind == "object":
            leaves = [{"label": word, "children": [], "papers": []} for word in words]
            return {"label": self._word(), "children": leaves, "papers": []}
        return words if parameter.kind == "strings" else " ".join(words)

    def _word(self) -> str:
        return "".join(_SAMPLE[i] for i in self.np_random.integers(0, 26, 5))

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a call that fits one of the tools' signatures."""
        return not isinstance(parse_action(x, self.tools), str)

    def __repr__(self) -> str:
        return f"ToolCallSpace({', '.join(self.tools)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCallSpace) and other.tools == self.tools
