"""The interface of sources of papers, and their registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

from arena.plugins import Registry
from corpus_builder.release import Release


class LocatedRecord(NamedTuple):
    """A raw record with its file and line, for messages: ``papers.jsonl line 7``."""

    record: Any
    file: str
    line: int


class Source(Protocol):
    """Papers and surveys as raw records; `corpus_builder.records` lists the keys.

    ``arena-corpus build`` has an option for each parameter of its constructor, or a word for one
    before ``/``, with the text that the docstring of the class has under ``Args:``. Where these
    are not its options, the source has class methods ``add_arguments`` and ``from_arguments``, as
    ``synthetic``.
    """

    example: ClassVar[str] = ""
    """Options for the example in the help text."""

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper once, in any order."""
        ...

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey once, in any order."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the manifest's description of the source; called after reading."""
        ...


SOURCES: Registry[type[Source] | type[Release]] = Registry(
    "source",
    packages=["corpus_builder.sources", "corpus_builder.library"],
)
source = SOURCES.register
"""Decorator: ``@source("name")``."""


def described(source: Source) -> dict[str, Any]:
    """Return what a source says of itself, under ``source`` with its name."""
    found = source.describe()
    return found if "source" in found else {"source": type(source).__name__.lower()} | found
