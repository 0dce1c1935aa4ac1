"""What sources too large for one process have in common: shards, read apart, into tables."""

from __future__ import annotations

from corpus_builder.release.base import TABLES, Limits, RejectError, Release, Shard, Sink
from corpus_builder.release.parsing import ShardTask, parse_shard
from corpus_builder.release.values import resolve

__all__ = [
    "TABLES",
    "Limits",
    "RejectError",
    "Release",
    "Shard",
    "ShardTask",
    "Sink",
    "parse_shard",
    "resolve",
]
