"""What every search engine provides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.registry import Registry


class Scope(NamedTuple):
    """The documents that exist for a search.

    Attributes:
        end: documents numbered below this lie before the cutoff.
        excluded: searchable documents below `end` that do not exist all the same, ascending.
    """

    end: int
    excluded: tuple[int, ...] = ()


class Ranking(NamedTuple):
    """Documents best first: higher score, then lower document number.

    Attributes:
        documents: int64, shape (n,).
        scores: float64, shape (n,).
    """

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]


class IndexInput(Protocol):
    """What an index is built from: the searchable papers of a corpus, in document order."""

    searchable_before: NDArray[np.int64]
    """Shape (documents + 1,): how many searchable documents have a lower number."""

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the text of these fields) of every searchable paper."""
        ...


class Retriever(Protocol):
    """A search engine over one corpus, opened from its index directory."""

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[[Iterable[Any]], Iterable[Any]],
    ) -> dict[str, Any]:
        """Write the index files into `directory`; return what its manifest shall say."""
        ...

    @classmethod
    def open(cls, directory: Path, **options: Any) -> Retriever:
        """Open an index that `build` wrote. Options are the engine's own."""
        ...

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, for the records of a run."""
        ...

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return at most `k` documents of `scope`; ties go to the lower document number."""
        ...


RETRIEVERS: Registry[type[Retriever]] = Registry(
    "retriever", packages=["arena.retrieval"], entry_points="researcharena.retrievers"
)
