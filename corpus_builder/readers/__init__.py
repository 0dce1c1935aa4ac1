"""Readers of the formats in which people have papers."""

from corpus_builder.readers.base import PaperFile, Record, paper, reader

__all__ = ["PaperFile", "Record", "paper", "reader"]
