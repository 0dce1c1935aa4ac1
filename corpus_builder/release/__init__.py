"""Releases: sources too large for one process, read into tables shard by shard."""

from __future__ import annotations

from corpus_builder.release.base import TABLES, RecordLimits, RejectError, Release, Shard, Sink
from corpus_builder.release.parsing import ShardTask, parse_shard
from corpus_builder.release.values import resolve

__all__ = [
    "TABLES",
    "RecordLimits",
    "RejectError",
    "Release",
    "Shard",
    "ShardTask",
    "Sink",
    "parse_shard",
    "resolve",
]
