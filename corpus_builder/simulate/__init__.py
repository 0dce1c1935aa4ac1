"""Literature worlds written as the files of a real release, so that importers are exercised."""

from __future__ import annotations

from corpus_builder.simulate._records import corpus_id
from corpus_builder.simulate._release import simulate
from corpus_builder.simulate._settings import Settings

__all__ = ["Settings", "corpus_id", "simulate"]
