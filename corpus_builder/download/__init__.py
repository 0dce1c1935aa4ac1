"""Fetching the files of a release: resumable, verified, within the server's limits."""

from __future__ import annotations

from corpus_builder.download._options import DATASETS, Estimate, Options
from corpus_builder.download._record import RECORD
from corpus_builder.download._run import download

__all__ = ["DATASETS", "RECORD", "Estimate", "Options", "download"]
