"""Downloads: resumable, verified, within the limits of the server."""

from __future__ import annotations

from corpus_builder.download.published import fetch_published
from corpus_builder.download.s2 import DATASETS, download

__all__ = ["DATASETS", "download", "fetch_published"]
