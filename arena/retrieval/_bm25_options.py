"""The options of BM25, whichever engine computes it."""

from __future__ import annotations

from collections.abc import Iterable

from arena.errors import DataError, clip, did_you_mean

STATISTICS = ("cutoff", "corpus")
_NAMES = ("statistics", "k1", "b")


def check_names(engine: str, names: Iterable[str]) -> None:
    """Refuse what is no option of BM25.

    Raises:
        DataError: naming the engine and the nearest options.
    """
    for name in names:
        if name not in _NAMES:
            raise DataError(f"{engine} has no option {clip(name)}.{did_you_mean(name, _NAMES)}")


def check_values(statistics: str, k1: float, b: float) -> None:
    """Refuse unknown statistics, and parameters out of [0, 1e6] (`k1`) and [0, 1] (`b`).

    Raises:
        DataError: naming the option and its value.
    """
    if statistics not in STATISTICS:
        raise DataError(
            f"no statistics named {clip(statistics)}.{did_you_mean(statistics, STATISTICS)}"
        )
    for name, value, most in (("k1", k1, 1e6), ("b", b, 1.0)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"{name}={clip(value)} is no number.")
        if not (0 <= value <= most):
            raise DataError(f"{name}={clip(value)}: give a number from 0 to {most:g}.")
