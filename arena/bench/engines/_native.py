"""The project's own engines, through the `Retriever` that everyone uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena.bench._collection import FIELDS, Collection
from arena.bench.engines.base import Engine
from arena.retrieval.base import RETRIEVERS, Ranking, Request, Retriever, Scope


class NativeEngine(Engine):
    """A registered retriever; a subclass names it."""

    native = True
    retriever: ClassVar[str]
    build_options: ClassVar[Mapping[str, Any]] = {}
    open_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can."""
        if cls.retriever not in RETRIEVERS.names():
            return f"this release has no retriever {cls.retriever!r}"
        return super().missing()

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Build through `Retriever.build`; what it says of the index is told."""
        return RETRIEVERS.get(cls.retriever).build(
            collection, directory, FIELDS, lambda papers, **_: papers, **cls.build_options
        )

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> NativeEngine:
        """Open through `Retriever.open`."""
        return cls(RETRIEVERS.get(cls.retriever).open(directory, **cls.open_options))

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search with the scope of the cutoff."""
        return self._retriever.search(query, k, Scope(end))

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search by `Retriever.search_batch`."""
        return self._retriever.search_batch([Request(query, k, Scope(end)) for query in queries])
