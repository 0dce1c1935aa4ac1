"""The base class of search engines, and names of engines, such as ``hybrid(bm25,dense)``."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError, DataError, clip
from arena.kit.options import check_names, check_options, parameters_of
from arena.plugins import Registry

T = TypeVar("T")
R = TypeVar("R")

_MAX_DEPTH = 5
_TOKEN = re.compile(r"[(),]|[^(),]+")


class Scope(NamedTuple):
    """The documents that exist for a search.

    Attributes:
        end: Documents numbered below this are dated before the cutoff.
        excluded: Searchable documents below `end` that do not exist all the same, ascending.
        window: Where only a part is searched: the first document that may be a hit, and the first
            after it that may not. The others exist, and count for the statistics. All requests of a
            batch have one window, or none has.
    """

    end: int
    excluded: tuple[int, ...] = ()
    window: tuple[int, int] | None = None


class Ranking(NamedTuple):
    """Documents best first: higher score, then lower number; int64 and float64, shape (n,)."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]


class Request(NamedTuple):
    """One search of a batch: any text, or what the engine prepared of it; at most `k` >= 0 hits."""

    query: Any
    k: int
    scope: Scope


class IndexInput(Protocol):
    """The input of an index: the searchable papers of a corpus, in document order."""

    searchable_before: NDArray[np.int64]
    """Number of searchable documents before each document, shape (documents + 1,)."""

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the text of these fields) of every searchable paper."""
        ...


class ParallelMap(Protocol):
    """Calls a function on many tasks in other processes."""

    def __call__(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results as they come, in any order; take `tasks` as they are needed.

        Function and tasks can be pickled.
        """
        ...


class Retriever(ABC):
    """A search engine over one corpus, opened from its index directory.

    Any number of threads may search at the same time.
    """

    resumes: ClassVar[bool] = False
    """Whether `build` resumes from what a killed build left in the directory."""

    runs_in_parallel: ClassVar[bool] = False
    """Whether `build` takes ``parallel``, a `ParallelMap` for work that other processes can do; the
    files are the same with and without it."""

    unsafe_files: ClassVar[tuple[str, ...]] = ()
    """Files that a library reads without checking bounds: compared with their hashes before they
    are opened, also by a user who skips the checks."""

    documents: int | None = None
    """Number of the documents that the index knows, in an engine that searches a window of a scope;
    others have None, and are never given a window."""

    opened: tuple[Path, dict[str, Any]] | None = None
    """The directory and the options that `open` was given, for another process to open it."""

    parts: tuple[Retriever, ...] = ()
    """The engines that this one combines, if any."""

    _registered: ClassVar[str]

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
            progress: Wraps an iterable over papers; keyword arguments are tqdm's.
            options: Options of the engine.
        """

    @classmethod
    def open(cls, directory: Path, /, **options: Any) -> Retriever:
        """Open an index that `build` wrote, with options of the constructor."""
        place = next(iter(parameters_of(cls)))
        checked = check_options(f"engine {cls.registered_name()}", cls, options, (place,))
        engine = cls(directory, **checked)  # type: ignore[call-arg]
        engine.opened = directory, options
        return engine

    @classmethod
    def registered_name(cls) -> str:
        """Return the name under which the engine is registered; else that of the class."""
        return str(vars(cls).get("_registered", cls.__name__.lower()))

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking, for the records of a run."""

    def prepared(self, query: str) -> Any:
        """Return what a search may be given in place of a query, also by another process.

        By default the query. An engine whose preparation could differ elsewhere prepares it here.
        """
        return query

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
    """Detects that an index was replaced while open, by the inode of a file that stays mapped."""

    def __init__(self, directory: Path, mapped: str) -> None:
        self._directory, self._path = directory, directory / mapped
        self._stat = self._path.stat() if self._path.exists() else None

    def require_same_file(self) -> None:
        """Raise CorpusError if another index is in the place of this one."""
        now = self._path.stat() if self._path.exists() else None
        if self._stat is None or now is None or not os.path.samestat(self._stat, now):
            raise CorpusError(
                f"the index in {str(self._directory)!r} was rebuilt since it was opened; "
                "open the corpus again."
            )


def _named(name: str, kind: type[Retriever]) -> type[Retriever]:
    kind._registered = name
    return kind


RETRIEVERS: Registry[type[Retriever]] = Registry(
    "retriever", packages=["arena.retrieval"], make=_named
)
retriever = RETRIEVERS.register
"""Decorator: ``@retriever("name")``."""


def engine_of(index: str) -> str | None:
    """Return the registered engine whose index has this name by default; None without one."""
    return next((name for name in RETRIEVERS.names() if name.lower() == index), None)


class Name(NamedTuple):
    """The name of an index or engine, or of a combiner with parts; canonical as a string."""

    name: str
    parts: tuple[Name, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"({','.join(map(str, self.parts))})" if self.parts else "")


def parse_name(text: str) -> Name:
    """Parse ``NAME`` or ``COMBINER(part,part,...)``; parts may be combinations.

    White space around names does not count. The names need not exist. An engine's name, also as
    ``FILE.py:NAME``, stands for the index that it has by default, its name in lower case.

    >>> str(parse_name("hybrid( bm25, hybrid(titles,dense) )"))
    'hybrid(bm25,hybrid(titles,dense))'
    """
    if ".py:" in text:
        return Name(_own_index(RETRIEVERS.resolve(text)))
    if not any(mark in text for mark in "(),"):
        return Name(_own_index(text.strip()))
    tokens = [token for match in _TOKEN.findall(text) if (token := match.strip())]
    name = _parse(tokens, text, 0)
    if tokens:
        _refuse(text, f"{clip(tokens[0])} comes after its end")
    return name


def _own_index(name: str) -> str:
    return name.lower() if name in RETRIEVERS.names() else name


def _parse(tokens: list[str], text: str, depth: int) -> Name:
    """Take one name off the front of `tokens`."""
    if not tokens or tokens[0] in "(),":
        _refuse(text, "a name is missing")
    name = tokens.pop(0)
    if not tokens or tokens[0] != "(":
        return Name(_own_index(name))
    if depth == _MAX_DEPTH:
        _refuse(text, f"it is nested deeper than {_MAX_DEPTH}")
    parts: list[Name] = []
    while not parts or tokens[0] == ",":
        tokens.pop(0)
        parts.append(_parse(tokens, text, depth + 1))
        if not tokens:
            _refuse(text, "a closing parenthesis is missing")
        if tokens[0] not in ",)":
            _refuse(text, f"{clip(tokens[0])} stands where a comma or parenthesis should")
    tokens.pop(0)
    if len(set(parts)) < len(parts):
        _refuse(text, f"{name} has the same part twice")
    return Name(name, tuple(parts))


def _refuse(text: str, why: str) -> NoReturn:
    raise DataError(f"retriever {clip(text)}: {why}. Write it like hybrid(bm25,dense).")


class Combiner(Retriever):
    """An engine that ranks by the rankings of other engines of the same corpus.

    It has no index. It is named together with its parts, ``NAME(part,part,...)``; the options of
    a part are given under the part's name.
    """

    example: ClassVar[str] = "bm25,dense"
    """Parts that it can have, as many as it needs at least."""

    def __init__(self, parts: Mapping[str, Retriever], **options: Any) -> None:
        """Combine opened engines, keyed by canonical name, in order; `config` contains theirs."""
        self.parts = tuple(parts.values())

    @classmethod
    def combine(cls, parts: Mapping[str, Retriever], /, **options: Any) -> Retriever:
        """Return the combination of `parts`, with options of the constructor."""
        first, *known = parameters_of(cls)
        owner = f"engine {cls.registered_name()}"
        if len(parts) < len(cls.example.split(",")):
            raise DataError(
                f"retriever {cls.registered_name()}({', '.join(parts)}): it has one part; give at "
                f"least two, as in {cls.registered_name()}({cls.example})."
            )
        check_names(owner, options, [*known, *parts])
        return cls(parts, **check_options(owner, cls, options, (first,)))

    @classmethod
    def build(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """Raise DataError: there is nothing to build."""
        cls.refuse_alone()

    @classmethod
    def refuse_alone(cls) -> NoReturn:
        """Raise DataError: a combiner must be named with its parts."""
        name = cls.registered_name()
        raise DataError(
            f"{name} has no index of its own; name it as {name}({cls.example}) where a retriever "
            "is named."
        )
