"""Read one shard into tables; the same code runs on this machine and on any other."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.workdir import atomic_directory
from corpus_builder.files import MAX_LINE, Lines, RowWriter, write_report
from corpus_builder.release.base import TABLES, RecordLimits, RejectError, Release, Shard, Sink
from corpus_builder.release.values import read_json

REPORT = "report.json"
REJECTS = "rejects.jsonl"
LISTED = 1000
"""Records of one shard and reason that are listed one by one; all are counted."""

_PLACED = frozenset(table for table, schema in TABLES.items() if "line" in schema.names)
_NARROW = {"rows": 1 << 16, "characters": 1 << 22}  # of a table without texts, written at once


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
