"""A release: its shards, and how a record of each becomes rows of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from corpus_builder.files import schema
from corpus_builder.sources.base import ConstructorOptions

TABLES = {
    "papers": schema(
        "id title title_key day:int32 precision is_survey:bool n_references:int32 venue "
        "authors:texts fields:texts arxiv_id doi file line:int64"
    ),
    "abstracts": schema("id abstract file line:int64"),
    "texts": schema("id abstract sections:sections n_references:int32 file line:int64"),
    "citations": schema("citing cited influential:bool"),
    "bibliography": schema("citing cited mentions:int32"),
}
"""Table -> columns. ``file`` and ``line`` are filled in by the reader and not part of a row.

A paper's ``day`` is resolved, or null; ``is_survey`` and ``n_references`` are what the release says
of it. Of a text, ``abstract`` is null if it has none, and ``n_references`` are the entries of its
bibliography; the table ``bibliography`` has those that were matched to a paper."""


class Sink:
    """Collects the rows and the flaws of one record."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, tuple[Any, ...]]] = []
        self.flaws: list[tuple[str, str]] = []
        self.skipped: list[str] = []

    def add(self, table: str, row: tuple[Any, ...]) -> None:
        """Add a row of a table of `TABLES`, without ``file`` and ``line``."""
        self.rows.append((table, row))

    def flaw(self, reason: str, detail: str = "") -> None:
        """Report that a part of the record is left out; the rest counts.

        Args:
            reason: A reason, one of few, that is counted.
            detail: The offending value, clipped.
        """
        self.flaws.append((reason, detail))

    def skip(self, reason: str) -> None:
        """Count a record, or a part of it, that is valid but of no use to a corpus.

        Args:
            reason: A reason, one of few, that is counted.
        """
        self.skipped.append(reason)


class RecordLimits(NamedTuple):
    """Limits of plausible values.

    Attributes:
        first_year: First year of a publication.
        last_year: Last year of a publication.
        characters: Most characters of a full text; a longer one is left out.
    """

    first_year: int = 1600
    last_year: int = 2050
    characters: int = 5_000_000


class RejectError(Exception):
    """A record is unusable.

    Args:
        reason: A reason, one of few, that is counted: ``"no title"``.
        detail: The offending value, clipped.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Shard(NamedTuple):
    """One file of a release.

    Attributes:
        dataset: Dataset of the release to which the shard belongs.
        name: Unique ``dataset/file name``; names the shard in reports, rejects and the work
            directory, and orders the shards.
        path: Path of the file.
        size: Size of the file in bytes.
    """

    dataset: str
    name: str
    path: Path
    size: int


class Release(ConstructorOptions, ABC):
    """Papers in many files of JSON lines, each read on its own, in any process of any machine.

    A release can be pickled, and `parse` depends on nothing but its arguments.
    """

    example: ClassVar[str]
    """Options for the example in the help text."""

    repeats: ClassVar[bool] = False
    """Whether shards repeat records by design; otherwise too many repeats stop a build."""

    @property
    @abstractmethod
    def year(self) -> int | None:
        """The year of the release, or None if the files do not name it."""

    @abstractmethod
    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name.

        Raises:
            DataError: If a part or a shard is missing, or a file belongs to another release.
        """

    @abstractmethod
    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Turn one record into rows of `sink`.

        Args:
            dataset: Dataset of the record.
            record: Any JSON value.
            sink: Collects rows (``sink.add``) and reasons for parts that are left out
                (``sink.flaw``). Rows added before a `RejectError` do not count.
            limits: Limits of plausible dates and lengths.

        Raises:
            RejectError: If the record is unusable.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the manifest's description of the source, besides the hashes of its shards."""
