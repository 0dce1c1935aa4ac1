"""What the engines of BM25 share: their options, and the statistics of a scope."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import load_array, save_array
from arena._internal.options import choice, number
from arena.errors import DataError, clip
from arena.retrieval.base import IndexInput, Retriever, Scope
from arena.text import ANALYZER

STATISTICS = ("cutoff", "corpus")
_SCOPES = 1024  # scopes whose statistics are kept


class Counted(NamedTuple):
    """A scope, and the documents that count for its statistics."""

    end: int  # of the scope, at most the number of all documents
    excluded: tuple[int, ...]  # documents below `end` that do not exist, ascending
    horizon: int  # documents below this count for the statistics,
    hidden: tuple[int, ...]  # except these, ascending
    documents: int  # number of the documents that count
    length: int  # number of their terms

    @property
    def average(self) -> float:
        """Average length of the documents that count; 0 for none."""
        return self.length / self.documents if self.documents else 0.0


class LexicalEngine(Retriever):
    """An engine with the options of BM25, and none for its index."""

    def __init__(
        self, directory: Path, *, statistics: str = "cutoff", k1: float = 0.9, b: float = 0.4
    ) -> None:
        """Open the index in `directory`, memory-mapped.

        Args:
            directory: Directory that `build` wrote into.
            statistics: ``"cutoff"``: the documents of the scope count for the statistics;
                ``"corpus"``: every searchable document does.
            k1: Saturation of the term frequency, in [0, 1e6].
            b: Weight of the document length, in [0, 1].

        Raises:
            DataError: if an option is out of its range.
            CorpusError: if the index is damaged.
            ArenaError: if a package that the engine needs is absent.
        """
        self._statistics = choice("statistics", statistics, STATISTICS)
        self._k1, self._b = number("k1", k1, 0, 1e6), number("b", b, 0, 1)
        self._directory = directory
        before = load_array(directory / "documents_before.npy", np.int64)
        lengths = load_array(directory / "length_before.npy", np.int64, size=len(before))
        self._documents_before = before
        # No method of its own, so that an engine goes, with its Java, when nobody holds it.
        self._counted = lru_cache(_SCOPES)(partial(_count, before, lengths, self._statistics))
        self.load(directory)

    @abstractmethod
    def load(self, directory: Path) -> None:
        """Open what the engine searches."""

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking."""
        return {"statistics": self._statistics, "k1": self._k1, "b": self._b}

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        """Write the index of the searchable papers, as `Retriever.build`; there are no options."""
        for name in options:
            raise DataError(
                f"the index {cls.registered_name()} has no option {clip(name)} to build with."
            )
        directory.mkdir(parents=True, exist_ok=True)
        lengths = np.zeros(len(source.searchable_before) - 1, np.uint32)
        written = cls.write(progress(source.texts(fields)), directory, lengths, progress)
        lengths_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        save_array(directory / "documents_before.npy", source.searchable_before)
        save_array(directory / "length_before.npy", lengths_before)
        return {
            "analyzer": ANALYZER,
            "fields": list(fields),
            "documents": int(source.searchable_before[-1]),
            "tokens": int(lengths_before[-1]),
            **written,
        }

    @classmethod
    @abstractmethod
    def write(
        cls, texts: Any, directory: Path, lengths: NDArray[np.uint32], progress: Callable[..., Any]
    ) -> dict[str, Any]:
        """Write what the engine searches; return its own entries of the manifest.

        Args:
            texts: (document number, text) of each paper in order.
            directory: An empty directory.
            lengths: Receives the number of terms of each document, shape (documents,).
            progress: As that of `Retriever.build`.
        """


def _count(
    before: NDArray[np.int64], lengths: NDArray[np.int64], statistics: str, scope: Scope
) -> Counted:
    """Return the statistics of a scope.

    `before` and `lengths` are the numbers of searchable documents before each document and of their
    terms, shape (documents + 1,).
    """
    total = len(before) - 1
    end = min(scope.end, total)
    excluded = tuple(d for d in scope.excluded if d < end)
    horizon, hidden = (end, excluded) if statistics == "cutoff" else (total, ())
    return Counted(
        end, excluded, horizon, hidden,
        before.item(horizon) - len(hidden),
        lengths.item(horizon) - sum(lengths.item(d + 1) - lengths.item(d) for d in hidden),
    )  # fmt: skip
