"""Releases: sources too large for one process, read into tables shard by shard."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import orjson

from arena.errors import clip
from arena.kit.workdir import atomic_directory
from corpus_builder.files import MAX_LINE, Lines, RowWriter, schema, write_report

TABLES = {
    "papers": schema(
        "id title title_key day:int32 precision is_survey:bool n_references:int32 venue "
        "authors:texts fields:texts arxiv_id doi citations:int32 file line:int64"
    ),
    "abstracts": schema("id abstract file line:int64"),
    "texts": schema("id abstract sections:sections n_references:int32 file line:int64"),
    "citations": schema("citing cited influential:bool"),
    "bibliography": schema("citing cited mentions:int32"),
}
"""Table -> columns. ``file`` and ``line`` are filled in by the reader and not part of a row.

A paper's ``day`` is resolved, or null; ``is_survey``, ``n_references`` and ``citations``, how often
it was cited then, are what the release says of it. Of a text, ``abstract`` is null if it has none,
and ``n_references`` are the entries of its bibliography; the table ``bibliography`` has those that
were matched to a paper, and their number as ``mentions`` of null where there is no text."""


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
        """Report that a part of the record is left out; the rest counts."""
        self.flaws.append((reason, detail))

    def skip(self, reason: str) -> None:
        """Count a record, or a part of it, that is valid but of no use to a corpus."""
        self.skipped.append(reason)


UNKNOWN_DAY = "1900-01-01"
"""The words of catalogues for a date that they do not know."""


class RecordLimits(NamedTuple):
    """Plausible years of a publication, and most characters of a full text."""

    first_year: int = 1600
    last_year: int = 2050
    characters: int = 5_000_000


class RejectError(Exception):
    """A record is unusable."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Shard(NamedTuple):
    """One file of a release.

    Its `name`, ``dataset/file name``, is unique: it names the shard in reports, rejects and the
    work directory, and orders the shards. `size` is in bytes.
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
    """Whether shards repeat records by design; otherwise too many repeats stop a build."""

    @property
    @abstractmethod
    def year(self) -> int | None:
        """The year of the release, or None if the files do not name it."""

    @abstractmethod
    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name."""

    @abstractmethod
    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Turn one record, any JSON value, into rows of `sink`; raise RejectError if it is useless.

        `sink` collects rows (``sink.add``) and reasons for parts that are left out (``sink.flaw``).
        Rows added before a `RejectError` do not count. `limits` are those of plausible dates and
        lengths.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the manifest's description of the source, besides the hashes of its shards."""


def read_json(text: bytes | str) -> Any:
    """Return the value that a line, or a string within a record, has, or raise RejectError.

    Python's parser has the last word: it takes lone surrogates and huge integers, too.
    """
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(text)
    try:
        # Given bytes, it would take other encodings than UTF-8.
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise RejectError("not UTF-8", clip(str(error))) from None
    except (ValueError, RecursionError) as error:
        raise RejectError("not JSON", clip(f"{error}: {text[:60]!r}", 120)) from None


REPORT = "report.json"
REJECTS = "rejects.jsonl"
LISTED = 1000
"""Records of one shard and reason that are listed one by one; all are counted."""

_PLACED = frozenset(table for table, schema in TABLES.items() if "line" in schema.names)
_NARROW = {"rows": 1 << 16, "characters": 1 << 22}  # of a table without texts, written at once


class ShardTask(NamedTuple):
    """One shard to be read into tables, whose `directory` appears when they are complete.

    `key` are the JSON values on which the tables depend; the report counts for these alone.
    """

    release: Release
    shard: Shard
    limits: RecordLimits
    directory: Path
    key: Any = None


def parse_shard(task: ShardTask) -> dict[str, Any]:
    """Read a shard into ``<table>.parquet``, ``rejects.jsonl`` and ``report.json``.

    Returns:
        The report: ``shard``, ``sha256``, ``lines`` (not blank), ``rows`` by table, ``rejected``,
        ``flaws`` and ``skipped`` by reason, ``damage`` (why lines are missing, or None).
    """
    shard, lines, count = task.shard, Lines(task.shard.path), 0
    counts = {kind: Counter[str]() for kind in ("rejected", "flaws", "skipped")}
    writers: dict[str, RowWriter] = {}
    with atomic_directory(task.directory) as new:
        with ExitStack() as stack:
            rejects = stack.enter_context((new / REJECTS).open("w", encoding="ascii"))

            def note(kind: str, number: int, reason: str, detail: str) -> None:
                counts[kind][reason] += 1
                if counts[kind][reason] <= LISTED:
                    entry = {"shard": shard.name, "line": number, "reason": reason,
                             "detail": detail, "kept": kind == "flaws"}  # fmt: skip
                    rejects.write(json.dumps(entry) + "\n")

            for number, line in lines:
                count += 1
                sink = Sink()
                try:
                    if line is None:
                        raise RejectError("line too long", f"{MAX_LINE >> 20} MiB or more")
                    task.release.parse(shard.dataset, read_json(line), sink, task.limits)
                except RejectError as reject:
                    note("rejected", number, reject.reason, reject.detail)
                    continue
                for reason, detail in sink.flaws:
                    note("flaws", number, reason, detail)
                counts["skipped"].update(sink.skipped)
                for table, row in sink.rows:
                    if table not in writers:
                        size = {} if table in _PLACED else _NARROW
                        writer = RowWriter(new / f"{table}.parquet", TABLES[table], **size)
                        writers[table] = stack.enter_context(writer)
                    place = (shard.name, number) if table in _PLACED else ()
                    writers[table].add((*row, *place))
        if shard.path.suffix == ".gz" and not lines.packed:  # such as a page that tells of an error
            lines.damage = lines.damage or "it is not gzip"
        if count and counts["rejected"].total() == count:
            first = next(iter(counts["rejected"]))
            lines.damage = lines.damage or f"no line is a record: {first}"
        report = {
            "shard": shard.name,
            "sha256": lines.sha256,
            "lines": count,
            "rows": {table: writer.count for table, writer in sorted(writers.items())},
            **{kind: dict(sorted(of.items())) for kind, of in counts.items()},
            "damage": lines.damage,
        }
        write_report(new / REPORT, task.key, report)
    return report
