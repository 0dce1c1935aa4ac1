"""Read one shard into tables; the same code runs on this machine and on any other."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena._internal.workdir import atomic_directory
from corpus_builder.lines import MAX_LINE, Lines
from corpus_builder.release.base import TABLES, RecordLimits, RejectError, Release, Shard, Sink
from corpus_builder.release.values import read_json
from corpus_builder.reports import write_report

if TYPE_CHECKING:
    from corpus_builder.parquet import RowWriter

REPORT = "report.json"
REJECTS = "rejects.jsonl"
LISTED = 1000
"""Records of one shard and reason that are listed one by one; all are counted."""

_PLACED = frozenset(table for table, schema in TABLES.items() if "line" in schema.names)
_GROUP = 1 << 16  # rows of a narrow table that are written at once


class ShardTask(NamedTuple):
    """One shard to be read.

    Attributes:
        release: Release to which the shard belongs.
        shard: The shard.
        limits: Limits of plausible values.
        directory: Directory of the tables, which appears when they are complete.
        key: JSON values on which the tables depend; the report counts for these alone.
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
        ``flaws`` and ``skipped`` by reason, ``damage`` (why the lines ended early, or None).

    Raises:
        OSError: If a file cannot be read or written.
    """
    with atomic_directory(task.directory) as new:
        with ExitStack() as stack:
            report = _ShardReader(task, new, stack).read()
        write_report(new / REPORT, task.key, report)
    return report


class _ShardReader:
    def __init__(self, task: ShardTask, directory: Path, stack: ExitStack) -> None:
        self._task, self._directory, self._stack = task, directory, stack
        self._writers: dict[str, RowWriter] = {}
        self._counts = {kind: Counter[str]() for kind in ("rejected", "flaws", "skipped")}
        self._rejects = stack.enter_context((directory / REJECTS).open("w", encoding="ascii"))

    def read(self) -> dict[str, Any]:
        shard, count = self._task.shard, 0
        parse, limits, lines = self._task.release.parse, self._task.limits, Lines(shard.path)
        for number, line in lines:
            count += 1
            sink = Sink()
            try:
                if line is None:
                    raise RejectError("line too long", f"{MAX_LINE >> 20} MiB or more")
                parse(shard.dataset, read_json(line), sink, limits)
            except RejectError as reject:
                self._report("rejected", number, reject.reason, reject.detail)
                continue
            for reason, detail in sink.flaws:
                self._report("flaws", number, reason, detail)
            self._counts["skipped"].update(sink.skipped)
            for table, row in sink.rows:
                self._add(table, row, number)
        return {
            "shard": shard.name,
            "sha256": lines.sha256,
            "lines": count,
            "rows": {table: writer.count for table, writer in sorted(self._writers.items())},
            **{kind: dict(sorted(of.items())) for kind, of in self._counts.items()},
            "damage": lines.damage,
        }

    def _add(self, table: str, row: tuple[Any, ...], number: int) -> None:
        writer = self._writers.get(table)
        if writer is None:
            from corpus_builder.parquet import RowWriter

            path, schema = self._directory / f"{table}.parquet", TABLES[table]
            narrow = {} if "line" in schema.names else {"rows": _GROUP, "characters": _GROUP << 6}
            writer = self._stack.enter_context(RowWriter(path, schema, **narrow))
            self._writers[table] = writer
        if table in _PLACED:
            row = (*row, self._task.shard.name, number)
        writer.add(row)

    def _report(self, kind: str, number: int, reason: str, detail: str) -> None:
        self._counts[kind][reason] += 1
        if self._counts[kind][reason] <= LISTED:
            entry = {"shard": self._task.shard.name, "line": number, "reason": reason,
                     "detail": detail, "kept": kind == "flaws"}  # fmt: skip
            self._rejects.write(json.dumps(entry) + "\n")
