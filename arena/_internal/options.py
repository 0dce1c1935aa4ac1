"""Checks of single options, in one wording."""

from __future__ import annotations

from collections.abc import Collection

from arena.errors import DataError, clip, did_you_mean


def require_integer(name: str, value: object, least: int) -> None:
    """Raise DataError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise DataError(f"{name}={clip(value)}: give an integer >= {least}.")


def number_in(name: str, value: object, most: float) -> float:
    """Return `value` as a float; raise DataError unless it is a number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{name}={clip(value)} is no number.")
    if not 0 <= value <= most:
        raise DataError(f"{name}={clip(value)}: give a number from 0 to {most:.7g}.")
    return float(value)


def require_choice(name: str, value: object, known: Collection[str]) -> None:
    """Raise DataError unless `value` is one of the `known`."""
    if value not in known:
        raise DataError(f"{name}={clip(value)}.{did_you_mean(value, known)}")
