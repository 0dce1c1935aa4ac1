"""What a release provides: its shards, and how a record of each becomes rows."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from corpus_builder.release._dates import Limits
from corpus_builder.release._tables import Sink


class RejectError(Exception):
    """A record that cannot be used.

    Args:
        reason: one of few, in words, for counting: ``"no title"``.
        detail: the offending value, clipped.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Shard(NamedTuple):
    """One file of a release.

    Attributes:
        dataset: which of the release's parts it belongs to.
        name: ``dataset/file name``; unique, names the shard in reports, rejects and the work
            directory, and orders the shards.
        path: where it lies.
        size: bytes.
    """

    dataset: str
    name: str
    path: Path
    size: int


class Release(ABC):
    """Papers in many files of JSON lines, each read on its own, in any process of any machine.

    A release can be pickled, and `parse` depends on nothing but its arguments.
    """

    example: ClassVar[str]
    """Options for the example in the help text."""

    repeats: ClassVar[bool] = False
    """Whether one record stands in several shards by design; else a share of such stops a build."""

    @classmethod
    @abstractmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add this source's own options to ``arena-corpus build <name>``."""

    @classmethod
    @abstractmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Release:
        """Make the source from the parsed options.

        Raises:
            DataError: if an option is out of its range.
        """

    @property
    @abstractmethod
    def year(self) -> int | None:
        """The year of the release, if the files tell."""

    @abstractmethod
    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name.

        Raises:
            DataError: if a part or a shard is missing, or a file belongs to another release.
        """

    @abstractmethod
    def parse(self, dataset: str, record: Any, sink: Sink, limits: Limits) -> None:
        """Turn one record into rows of `sink`.

        Args:
            dataset: that it stands in.
            record: any JSON value.
            sink: takes rows of tables (``sink.add``) and parts that had to be left out
                (``sink.flaw``). Rows added before a `RejectError` do not count.
            limits: dates and lengths that are plausible.

        Raises:
            RejectError: if the record cannot be used.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what the manifest shall say of the source besides the hashes of its shards."""
