"""The options of BM25, whichever engine computes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip, did_you_mean
from arena.retrieval.base import Retriever

STATISTICS = ("cutoff", "corpus")
_NAMES = ("statistics", "k1", "b")


class BM25(Retriever):
    """An engine with the options of BM25 and none for its index.

    Args:
        statistics: ``"cutoff"``: the documents of the scope count for the statistics;
            ``"corpus"``: every searchable document does.
        k1: Saturation of the term frequency, in [0, 1e6].
        b: Weight of the document length, in [0, 1].

    Raises:
        DataError: if an option is out of its range.
    """

    name: ClassVar[str]
    """The engine's own, for messages."""

    def __init__(self, statistics: str, k1: float, b: float) -> None:
        if statistics not in STATISTICS:
            raise DataError(
                f"no statistics named {clip(statistics)}.{did_you_mean(statistics, STATISTICS)}"
            )
        for name, value, most in (("k1", k1, 1e6), ("b", b, 1.0)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise DataError(f"{name}={clip(value)} is no number.")
            if not (0 <= value <= most):
                raise DataError(f"{name}={clip(value)}: give a number from 0 to {most:g}.")
        self._statistics, self._k1, self._b = statistics, float(k1), float(b)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking."""
        return {"statistics": self._statistics, "k1": self._k1, "b": self._b}

    @classmethod
    def refuse_build_options(cls, options: dict[str, Any]) -> None:
        """Raise DataError if there are options: the index has none."""
        for name in options:
            raise DataError(f"the index {cls.name} has no option {clip(name)} to build with.")

    @classmethod
    def open(cls, directory: Path, **options: Any) -> Retriever:
        """Open an index that `build` wrote; for the options see `__init__`.

        Raises:
            DataError: if an option is unknown or out of its range.
        """
        for name in options:
            if name not in _NAMES:
                hint = did_you_mean(name, _NAMES)
                raise DataError(f"{cls.name} has no option {clip(name)}.{hint}")
        return cls(directory, **options)  # type: ignore[arg-type]
