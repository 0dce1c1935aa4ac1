"""Fetching the files of a release: resumable, verified, within the server's limits."""

from __future__ import annotations

from corpus_builder.download.fetching import (
    DATASETS,
    DownloadEstimate,
    Options,
    download,
    format_bytes,
)
from corpus_builder.download.record import RECORD

__all__ = ["DATASETS", "RECORD", "DownloadEstimate", "Options", "download", "format_bytes"]
