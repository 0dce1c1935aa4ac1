"""What every search engine provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


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


class Request(NamedTuple):
    """One search of a batch.

    Attributes:
        query: any text.
        k: hits at most, >= 0.
        scope: the documents that exist for it.
    """

    query: str
    k: int
    scope: Scope


class IndexInput(Protocol):
    """What an index is built from: the searchable papers of a corpus, in document order."""

    searchable_before: NDArray[np.int64]
    """Shape (documents + 1,): how many searchable documents have a lower number."""

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the text of these fields) of every searchable paper."""
        ...


class Spread(Protocol):
    """Calls a function on many tasks in other processes."""

    def __call__(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results as they come, in any order; `tasks` are taken as they are needed.

        Args:
            function: of a module's top level.
            tasks: can be pickled.
        """
        ...


class Retriever(ABC):
    """A search engine over one corpus, opened from its index directory.

    Any number of threads may search at the same time.
    """

    resumes: ClassVar[bool] = False
    """Whether `build` goes on from what an earlier, killed build left in the directory."""

    spreads: ClassVar[bool] = False
    """Whether `build` takes ``spread``, a `Spread` for work that other processes can do; the
    files are the same with and without it."""

    parts: tuple[Retriever, ...] = ()
    """The engines that this one combines, if any."""

    helpers: tuple[type, ...] = ()
    """Other classes whose code shapes a ranking, such as that of an encoder."""

    @classmethod
    @abstractmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        """Write the index files into `directory`; return what its manifest shall say.

        Args:
            source: the papers.
            directory: exists; empty, or, if the engine `resumes`, as a killed build left it.
            fields: which texts of a paper are indexed, of ``title``, ``abstract``, ``fulltext``.
            progress: wraps an iterable over papers to show how far it is; keyword arguments are
                tqdm's.
            options: the engine's own.

        Raises:
            DataError: if an option is unknown or out of its range.
        """

    @classmethod
    @abstractmethod
    def open(cls, directory: Path, **options: Any) -> Retriever:
        """Open an index that `build` wrote. Options are the engine's own.

        Raises:
            DataError: if an option is unknown or out of its range.
            CorpusError: if the index is damaged.
        """

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, for the records of a run."""

    @abstractmethod
    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return at most `k` documents of `scope`; ties go to the lower document number."""

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what `search` returns for each request, in order; engines may be faster here."""
        return [self.search(*request) for request in requests]

    def classes(self) -> list[type]:
        """Return the classes of this engine, of its helpers, and of all that it combines."""
        parts = (kind for part in self.parts for kind in part.classes())
        return [type(self), *self.helpers, *parts]


RETRIEVERS: Registry[type[Retriever]] = Registry(
    "retriever", packages=["arena.retrieval"], entry_points="researcharena.retrievers"
)
