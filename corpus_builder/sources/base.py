"""The interface of sources of papers, and their registry."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from arena.registry import Registry
from corpus_builder._options import ConstructorOptions

if TYPE_CHECKING:
    from corpus_builder.release import Release

__all__ = ["SOURCES", "ConstructorOptions", "LocatedRecord", "Source"]


class LocatedRecord(NamedTuple):
    """A raw record with its file and line, for messages: ``papers.jsonl line 7``."""

    record: Any
    file: str
    line: int


class Source(Protocol):
    """Papers and surveys as raw records; `corpus_builder.records` lists the keys.

    A subclass of `ConstructorOptions` has the two class methods.
    """

    example: ClassVar[str]
    """Options for the example in the help text."""

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add the source's options to ``arena-corpus build <name>``."""
        ...

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from the parsed options.

        Raises:
            DataError: If an option is out of range.
        """
        ...

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
    "source", packages=["corpus_builder.sources"], entry_points="researcharena.sources"
)
