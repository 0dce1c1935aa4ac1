"""Sources of papers and surveys; one file each, registered by name."""

from corpus_builder.sources.base import SOURCES, LocatedRecord, Source

__all__ = ["SOURCES", "LocatedRecord", "Source"]
