"""What sources too large for one process have in common: shards, read apart, into tables."""

from __future__ import annotations

from corpus_builder.release._dates import Limits, resolve
from corpus_builder.release._tables import TABLES, Sink
from corpus_builder.release.base import RejectError, Release, Shard
from corpus_builder.release.parsing import ShardTask, parse_shard

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
