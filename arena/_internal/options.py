"""Checks of single options, in one wording; each raises DataError for any other value."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from arena.errors import DataError, clip, did_you_mean


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an option that is an integer from `least` to `most`; None for no bound."""
    if type(value) is not int or value < least or (most is not None and value > most):
        wanted = f">= {least}" if most is None else f"from {least} to {most}"
        raise DataError(f"{name}={clip(value)}: give an integer {wanted}.")
    return value


def number(name: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return an option that is a number from `least` to `most`, which is at most 1e18."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= min(most, 1e18):
        wanted = f">= {least:g}" if most == math.inf else f"from {least:g} to {most:.7g}"
        raise DataError(f"{name}={clip(value)}: give a number {wanted}.")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return an option that is true or false."""
    if not isinstance(value, bool):
        raise DataError(f"{name}={clip(value)}: give true or false.")
    return value


def choice(name: str, value: Any, known: Collection[str]) -> str:
    """Return an option that is one of the names in `known`."""
    if value not in known:
        raise DataError(f"{name}={clip(value)}.{did_you_mean(value, known)}")
    return str(value)
