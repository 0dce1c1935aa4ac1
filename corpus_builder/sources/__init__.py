"""Where papers and surveys come from, one file a source, found by name."""

from corpus_builder.sources.base import SOURCES, Located, Source

__all__ = ["SOURCES", "Located", "Source"]
