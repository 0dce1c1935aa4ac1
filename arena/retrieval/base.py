"""What every search engine provides."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError
from arena.registry import Registry, check_options, option_names

T = TypeVar("T")
R = TypeVar("R")


class Scope(NamedTuple):
    """The documents that exist for a search.

    Attributes:
        end: Documents numbered below this are dated before the cutoff.
        excluded: Searchable documents below `end` that do not exist all the same, ascending.
    """

    end: int
    excluded: tuple[int, ...] = ()


class Ranking(NamedTuple):
    """Documents best first: higher score, then lower document number.

    Attributes:
        documents: Document numbers, int64, shape (n,).
        scores: Their scores, float64, shape (n,).
    """

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]


class Request(NamedTuple):
    """One search of a batch.

    Attributes:
        query: Any text.
        k: Number of hits at most, >= 0.
        scope: Documents that exist for the search.
    """

    query: str
    k: int
    scope: Scope


class IndexInput(Protocol):
    """What an index is built from: the searchable papers of a corpus, in document order."""

    searchable_before: NDArray[np.int64]
    """Number of searchable documents before each document, shape (documents + 1,)."""

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the text of these fields) of every searchable paper."""
        ...


class Spread(Protocol):
    """Calls a function on many tasks in other processes."""

    def __call__(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results as they come, in any order; take `tasks` as they are needed.

        Args:
            function: Function of a module's top level.
            tasks: Arguments that can be pickled.
        """
        ...


class Retriever(ABC):
    """A search engine over one corpus, opened from its index directory.

    Any number of threads may search at the same time.
    """

    resumes: ClassVar[bool] = False
    """Whether `build` resumes from what a killed build left in the directory."""

    spreads: ClassVar[bool] = False
    """Whether `build` takes ``spread``, a `Spread` for work that other processes can do; the
    files are the same with and without it."""

    unsafe_files: ClassVar[tuple[str, ...]] = ()
    """Files that a library reads without checking bounds: compared with their hashes before they
    are opened, also by a user who skips the checks."""

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
        """Write the index files into `directory`; return the engine's entries of its manifest.

        Args:
            source: Papers of the corpus.
            directory: An existing directory: empty or, if the engine `resumes`, as a killed build
                left it.
            fields: Indexed texts of a paper, of ``title``, ``abstract``, ``fulltext``.
            progress: Wraps an iterable over papers to show a progress bar; keyword arguments are
                tqdm's.
            options: Options of the engine.

        Raises:
            DataError: if an option is unknown or out of its range.
        """

    @classmethod
    def open(cls, directory: Path, /, **options: Any) -> Retriever:
        """Open an index that `build` wrote, with options of the engine: those of its constructor.

        Raises:
            DataError: if an option is unknown or out of its range.
            CorpusError: if the index is damaged.
        """
        check_options(f"engine {cls.registered_name()}", options, option_names(cls)[1:])
        return cls(directory, **options)  # type: ignore[call-arg]

    @classmethod
    def registered_name(cls) -> str:
        """Return the name under which the engine is registered."""
        names = (name for name in RETRIEVERS.names() if RETRIEVERS.get(name) is cls)
        return next(names, cls.__name__.lower())

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, for the records of a run."""

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return at most `k` documents of `scope`; ties go to the lower document number.

        An engine defines this or `search_batch`.
        """
        return self.search_batch([Request(query, k, scope)])[0]

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what `search` returns for each request, in order; engines may be faster here."""
        if type(self).search is Retriever.search:
            raise NotImplementedError(f"{type(self).__name__} defines no search.")
        return [self.search(*request) for request in requests]

    def classes(self) -> list[type]:
        """Return the classes of this engine, of its helpers, and of all that it combines."""
        parts = (kind for part in self.parts for kind in part.classes())
        return [type(self), *self.helpers, *parts]


class OpenedIndex:
    """Recognises the index that was opened, which another may replace before all of it is read.

    Args:
        directory: Directory of the index.
        mapped: Name of a file that stays mapped, so that no other file gets its inode.
    """

    def __init__(self, directory: Path, mapped: str) -> None:
        self._directory, self._path = directory, directory / mapped
        self._stat = self._path.stat() if self._path.exists() else None

    def check(self) -> None:
        """Raise CorpusError if another index is in the place of this one."""
        now = self._path.stat() if self._path.exists() else None
        if self._stat is None or now is None or not os.path.samestat(self._stat, now):
            raise CorpusError(
                f"the index in {str(self._directory)!r} was rebuilt since it was opened; "
                "open the corpus again."
            )


RETRIEVERS: Registry[type[Retriever]] = Registry(
    "retriever", packages=["arena.retrieval"], entry_points="researcharena.retrievers"
)
