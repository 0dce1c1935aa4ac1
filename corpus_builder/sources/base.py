"""What every source of papers provides."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from arena.registry import Registry

if TYPE_CHECKING:
    from corpus_builder.release import Release


class Located(NamedTuple):
    """A raw record and where it stands, for messages: ``papers.jsonl line 7``."""

    record: Any
    file: str
    line: int


class Source(Protocol):
    """Papers and surveys as raw records; `corpus_builder.records` says which keys count."""

    example: ClassVar[str]
    """Options for the example in the help text."""

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add this source's own options to ``arena-corpus build <name>``."""
        ...

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from the parsed options.

        Raises:
            DataError: If an option is out of range.
        """
        ...

    def papers(self) -> Iterator[Located]:
        """Yield every paper once, in any order."""
        ...

    def surveys(self) -> Iterator[Located]:
        """Yield every survey once, in any order."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what the manifest shall say of the source; called after reading."""
        ...


SOURCES: Registry[type[Source] | type[Release]] = Registry(
    "source", packages=["corpus_builder.sources"], entry_points="researcharena.sources"
)
