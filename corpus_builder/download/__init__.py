"""Fetching the files of a release: resumable, verified, within the server's limits."""

from __future__ import annotations

from corpus_builder.download._download import DATASETS, Estimate, Options, download, format_bytes
from corpus_builder.download._record import RECORD

__all__ = ["DATASETS", "RECORD", "Estimate", "Options", "download", "format_bytes"]
