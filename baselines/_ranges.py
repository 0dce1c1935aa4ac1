"""Checks of an agent's options."""

from __future__ import annotations

from arena.errors import DataError, clip


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return an option that is an integer from `least` to `most`.

    Raises:
        DataError: if it is something else.
    """
    if type(value) is not int or not least <= value <= most:
        raise DataError(f"{name}={clip(value)}: give an integer from {least} to {most}.")
    return value
