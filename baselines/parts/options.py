"""Checks of an agent's options."""

from __future__ import annotations

from arena.errors import DataError, clip


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an option that is an integer from `least` to `most`; None for no bound.

    Raises:
        DataError: if it is something else.
    """
    if type(value) is not int or value < least or (most is not None and value > most):
        wanted = f">= {least}" if most is None else f"from {least} to {most}"
        raise DataError(f"{name}={clip(value)}: give an integer {wanted}.")
    return value


def real(name: str, value: object, least: float, most: float) -> float:
    """Return an option that is a number from `least` to `most`.

    Raises:
        DataError: if it is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise DataError(f"{name}={clip(value)}: give a number from {least:g} to {most:g}.")
    return float(value)


def flag(name: str, value: object) -> bool:
    """Return an option that is true or false.

    Raises:
        DataError: if it is something else.
    """
    if not isinstance(value, bool):
        raise DataError(f"{name}={clip(value)}: give true or false.")
    return value
