"""The way back from a recorded action to one that meets the same answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from arena.errors import DataError, clip


def restore_action(recorded: Any) -> Any:
    """Return an action that an environment answers as it answered the recorded one.

    What JSON cannot hold comes back as an object of a type of the same name, which is all that
    an answer tells of it.

    Raises:
        DataError: if `recorded` is nothing that `record_action` returns.
    """
    try:
        return _Restorer().restore(recorded)
    except DataError:
        raise
    except (
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
    ) as error:  # fmt: skip
        raise DataError(
            f"{clip(recorded)} is no recorded action ({type(error).__name__}: {error})."
        ) from None


class _StandInMapping(Mapping[Any, Any]):
    """Stands for a mapping that is no dict."""

    def __init__(self) -> None:
        self.pairs: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return self.pairs[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)


class _Restorer:
    def __init__(self) -> None:
        self._parts: list[Any] = []

    def restore(self, recorded: Any) -> Any:
        if not (isinstance(recorded, dict) and set(recorded) == {"$parts"}):
            return self._value(recorded)
        *parts, root = recorded["$parts"]
        # Lists and mappings are there before they are filled: they may hold themselves.
        self._parts = [self._shell(part) for part in parts]
        for number, part in enumerate(parts):
            shell, value = self._parts[number], self._value(part)
            if isinstance(shell, list):
                shell.extend(value)
            elif isinstance(shell, dict):
                shell.update(value)
            elif isinstance(shell, _StandInMapping):
                shell.pairs.update(value.pairs)
            else:
                self._parts[number] = value
        return self._value(root)

    def _shell(self, part: Any) -> Any:
        if isinstance(part, list):
            return []
        if "$mapping" in part:
            return _named(part["$mapping"][0], _StandInMapping)()
        return None if "$tuple" in part else {}

    def _part(self, number: int) -> Any:
        part = self._parts[number] if number >= 0 else None
        if part is None:  # a tuple that holds itself, by way of a list
            part = []
            part.append(part)
        return part

    def _value(self, recorded: Any) -> Any:
        if isinstance(recorded, list):
            return [self._value(part) for part in recorded]
        if not isinstance(recorded, dict):
            return recorded
        kind = next(iter(recorded), "")
        if not kind.startswith("$"):
            return {key: self._value(value) for key, value in recorded.items()}
        (content,) = recorded.values()
        return self._escape(kind, content)

    def _escape(self, kind: str, content: Any) -> Any:
        match kind:
            case "$part":
                return self._part(content)
            case "$tuple":
                return tuple(self._value(part) for part in content)
            case "$dict":
                return {self._value(key): self._value(value) for key, value in content}
            case "$mapping":
                made = _named(content[0], _StandInMapping)()
                made.pairs = {self._value(key): self._value(value) for key, value in content[1]}
                return made
            case "$shown":
                return _shown(self._value(content[0]), *content[1:])
            case "$numpy":
                return _number(*content)
            case "$text":
                return "".join(content)
            case "$int":
                return int(content, 16)
            case "$float":
                return float(content)
            case "$bytes":
                return content.encode("latin-1")
            case "$type":
                return _named(content, object)()
        raise DataError(f"{clip(kind)} is no escape of a recorded action that this release knows.")


def _named(name: str, base: type) -> Any:
    return type(name, (base,), {})


def _number(name: str, text: str) -> Any:
    if not isinstance(name, str) or not isinstance(text, str):
        raise TypeError("a number of NumPy is a name and a text")
    scalar = np.dtype(name).type  # never a function of NumPy
    if not issubclass(scalar, np.bool_ | np.integer | np.floating):
        raise ValueError(f"{name} is no number")
    return scalar(text == "True" if scalar is np.bool_ else text)


def _shown(plain: Any, as_repr: str, as_str: str) -> Any:
    if not isinstance(as_repr, str) or not isinstance(as_str, str):
        raise TypeError("a value is shown by two texts")
    shows = {"__repr__": lambda _: as_repr, "__str__": lambda _: as_str}
    return type("Shown", (type(plain),), shows)(plain)
