"""One mapping of a configuration, read key by key; what is left over is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from arena._internal.settings.source import Place, Source
from arena.errors import DataError, clip, did_you_mean

_REQUIRED: Any = object()


class Section:
    """A mapping with known keys.

    Args:
        source: the whole configuration.
        place: of the mapping in it.
        value: the mapping.
        known: its keys.

    Raises:
        DataError: if `value` is no mapping or has another key.
    """

    def __init__(self, source: Source, place: Place, value: Any, known: Iterable[str]) -> None:
        self.source, self.place = source, place
        if not isinstance(value, dict):
            self.refuse((), f"expected `name: value`, one a line, not {clip(value)}.")
        self._value = value
        names = list(known)
        for key in value:
            if key not in names:
                self.refuse((key,), f"no such key.{did_you_mean(key, names)}")

    def refuse(self, place: Place, why: str) -> NoReturn:
        """Raise a `DataError` that says where.

        Raises:
            DataError: always.
        """
        raise DataError(f"{self.source.where((*self.place, *place))}: {why}")

    def has(self, name: str) -> bool:
        """Return whether the key is there and says something."""
        return self._value.get(name) is not None

    def get(self, name: str, default: Any = _REQUIRED) -> Any:
        """Return what the key says, whatever it is."""
        value = self._value.get(name)
        if value is None:
            if default is _REQUIRED:
                self.refuse((), f"the key {name!r} is missing.")
            return default
        return value

    def text(self, name: str, default: Any = _REQUIRED) -> Any:
        """Return a text that is not empty; numbers count as text."""
        value = self.get(name, default)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if value is not default and (not isinstance(value, str) or not value.strip()):
            self.refuse((name,), f"expected a text, not {clip(value)}.")
        if isinstance(value, str) and not value.isprintable():
            self.refuse((name,), f"expected a text of one line, not {clip(value)}.")
        return value

    def whole(self, name: str, default: Any = _REQUIRED, least: int = 0) -> Any:
        """Return an integer of at least `least`."""
        value = self.get(name, default)
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.refuse((name,), f"expected an integer >= {least}, not {clip(value)}.")
        return value

    def flag(self, name: str, default: Any = _REQUIRED) -> bool:
        """Return true or false."""
        value = self.get(name, default)
        if not isinstance(value, bool):
            self.refuse((name,), f"expected true or false, not {clip(value)}.")
        return value

    def mapping(self, name: str, default: Any = _REQUIRED) -> dict[str, Any]:
        """Return a mapping; an empty one by default if `default` is given."""
        value = self.get(name, default)
        if not isinstance(value, dict):
            self.refuse((name,), f"expected `name: value`, one a line, not {clip(value)}.")
        return value

    def texts(self, name: str, default: Any = _REQUIRED) -> list[str]:
        """Return a list of texts."""
        value = self.get(name, default)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse((name,), f"expected a list of texts, not {clip(value)}.")
        return value
