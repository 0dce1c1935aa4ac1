"""Sources of papers and surveys; one file each, registered by name."""

from corpus_builder.sources.base import SOURCES, LocatedRecord, Source, source

__all__ = ["SOURCES", "LocatedRecord", "Source", "source"]
