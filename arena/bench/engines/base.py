"""What the benchmark asks of an engine, the project's own and others alike."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from arena.registry import Registry
from arena.retrieval.base import Ranking

if TYPE_CHECKING:
    from arena.bench._collection import Collection


class Convention(NamedTuple):
    """Which BM25 an engine computes; the oracle computes the same.

    Attributes:
        k1, b: the parameters.
        factor: what every score is multiplied with; k1 + 1 in the older form.
        statistics: ``"cutoff"`` if N, df and the mean length are those of the documents before
            the cutoff, ``"corpus"`` if they are those of all.
        lengths: ``"exact"``, or ``"byte"`` if the length of a document is rounded to one of the
            256 values of Lucene's SmallFloat.intToByte4 (the mean length stays exact).
    """

    k1: float = 0.9
    b: float = 0.4
    factor: float = 1.0
    statistics: Literal["cutoff", "corpus"] = "corpus"
    lengths: Literal["exact", "byte"] = "exact"


class Engine(ABC):
    """An engine over a `Collection`; documents are numbered from 0 in the order of their days."""

    family: ClassVar[Literal["lexical", "dense"]] = "lexical"
    native: ClassVar[bool] = False
    """Whether it is the project's own, reached through its `Retriever`."""

    convention: ClassVar[Convention] = Convention()
    """For lexical engines."""

    tolerance: ClassVar[float] = 1e-5
    """How far a score may be from the oracle's: relative if lexical, absolute if dense."""

    breaks_ties: ClassVar[bool] = False
    """Whether it promises the lower document number first among equal scores."""

    rounds_queries: ClassVar[bool] = False
    """For dense engines: whether the vector of a query is rounded to float16."""

    bytes_a_row: ClassVar[int] = 0
    """For dense engines that read every vector: bytes a vector takes."""

    requires: ClassVar[tuple[tuple[str, str], ...]] = ()
    """(import name, distribution) of what must be installed."""

    extra: ClassVar[str | None] = "bench"
    """The extra of the project that installs it; None if the project itself does."""

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can."""
        absent = [d for name, d in cls.requires if importlib.util.find_spec(name) is None]
        if not absent:
            return None
        extra = f"[{cls.extra}]" if cls.extra else ""
        return f"{', '.join(absent)} not installed; pip install 'researcharena{extra}'"

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return distribution -> version of what it requires."""
        found = {}
        for _, distribution in cls.requires:
            try:
                found[distribution] = metadata.version(distribution)
            except metadata.PackageNotFoundError:  # installed under another name
                found[distribution] = "unknown"
        return found

    @classmethod
    @abstractmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Write the index into the empty `directory`; return what is worth telling of it."""

    @classmethod
    @abstractmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Engine:
        """Open the index. `threads` is what a batch may use; a single search uses one."""

    def prepare(self, end: int) -> None:  # noqa: B027 - most need nothing
        """Make ready for the cutoff `end`; not timed."""

    @abstractmethod
    def search(self, query: str, k: int, end: int) -> Ranking:
        """Return the best `k` of the documents numbered below `end`, best first."""

    @abstractmethod
    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Return what `search` returns for each query, by the engine's fastest way."""


ENGINES: Registry[type[Engine]] = Registry(
    "engine", packages=["arena.bench.engines"], entry_points="researcharena.bench_engines"
)


def ordered_names() -> list[str]:
    """Return all names: lexical before dense, the project's own first, then alphabetical."""
    engines = {name: ENGINES.get(name) for name in ENGINES.names()}
    return sorted(engines, key=lambda n: (engines[n].family == "dense", not engines[n].native, n))
