"""The nine papers and two surveys of the documentation: the source named ``example``."""

from __future__ import annotations

from pathlib import Path

from corpus_builder.sources.base import source
from corpus_builder.sources.jsonl import JsonLines

FOLDER = Path(__file__).parents[1] / "example"


@source("example")
class Example(JsonLines):
    """Nine papers and two surveys, which the pages of the documentation use."""

    example = ""

    def __init__(self) -> None:
        super().__init__(FOLDER / "papers.jsonl", FOLDER / "surveys.jsonl")
