"""The options of BM25, whichever engine computes it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from arena._internal.options import choice, number
from arena.errors import DataError, clip
from arena.retrieval.base import Retriever

STATISTICS = ("cutoff", "corpus")


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
        choice("statistics", statistics, STATISTICS)
        self._statistics = statistics
        self._k1, self._b = number("k1", k1, 0, 1e6), number("b", b, 0, 1)

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking."""
        return {"statistics": self._statistics, "k1": self._k1, "b": self._b}

    @classmethod
    def build(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Write the index of the searchable papers, as `Retriever.build`; there are no options."""
        for name in options:
            raise DataError(f"the index {cls.name} has no option {clip(name)} to build with.")
        return cls.write(*arguments)

    @classmethod
    @abstractmethod
    def write(cls, *arguments: Any) -> dict[str, Any]:
        """Write the index files, as `Retriever.build`."""
