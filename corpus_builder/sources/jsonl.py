"""JSON lines, plain or gzip: the source named ``jsonl``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from corpus_builder.sources._json_lines import JsonLinesFile
from corpus_builder.sources.base import SOURCES, Located, Source


@SOURCES.register("jsonl")
class JsonLines:
    """Papers and surveys from two files of JSON lines (plain or gzip)."""

    example: ClassVar[str] = "--papers papers.jsonl.gz --surveys surveys.jsonl"

    def __init__(self, papers: str | Path, surveys: str | Path) -> None:
        self._papers = JsonLinesFile(papers, "papers")
        self._surveys = JsonLinesFile(surveys, "surveys")

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add ``--papers`` and ``--surveys``."""
        parser.add_argument("--papers", required=True, metavar="FILE", help="papers, one a line")
        parser.add_argument("--surveys", required=True, metavar="FILE", help="surveys, one a line")

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from the parsed options."""
        return cls(arguments.papers, arguments.surveys)

    def papers(self) -> Iterator[Located]:
        """Yield every paper with its line."""
        return iter(self._papers)

    def surveys(self) -> Iterator[Located]:
        """Yield every survey with its line."""
        return iter(self._surveys)

    def describe(self) -> dict[str, Any]:
        """Return the names and sha256s of the files as they were read."""
        files = {"papers": self._papers, "surveys": self._surveys}
        return {
            "source": "jsonl",
            "files": {
                role: {"name": file.name, "sha256": file.sha256} for role, file in files.items()
            },
        }
