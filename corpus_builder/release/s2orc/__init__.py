"""The datasets of a Semantic Scholar release: what a record of each becomes."""

from __future__ import annotations

from corpus_builder.release.s2orc._records import (
    parse_abstract,
    parse_citation,
    parse_paper,
)
from corpus_builder.release.s2orc._texts import parse_text

__all__ = ["parse_abstract", "parse_citation", "parse_paper", "parse_text"]
