"""A made-up field of science: the source named ``synthetic``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from arena.cli.app import add_argument
from arena.errors import DataError, did_you_mean
from arena.kit.options import Option, options_of, parameters_of
from arena.kit.terminal import progress
from corpus_builder.sources.base import LocatedRecord, Source, source
from corpus_builder.synthetic import PAPERS_PER_SURVEY, SyntheticConfig, SyntheticCorpus


@source("synthetic")
class SyntheticSource:
    """A made-up field of science: topics, papers, references, surveys with gold mind-maps."""

    example: ClassVar[str] = "--seed 7 --papers 3000 --surveys 30"

    def __init__(self, config: SyntheticConfig) -> None:
        self._config = config
        self._synthetic = SyntheticCorpus(config)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add ``--config`` and one option a knob."""
        parser.add_argument(
            "--config", metavar="FILE", help="Knobs as YAML, `name: value` a line; options win"
        )
        for knob, metavar, text in options_of(SyntheticConfig):
            text = f"{text.split('. ')[0].rstrip('.')} (default: {knob.default})"
            knob = knob.replace(kind=knob.KEYWORD_ONLY, default=None)  # that of the file counts
            add_argument(parser, Option(knob, metavar, text))

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from ``--config``, overridden by the single options."""
        from corpus_builder.settings import read_source

        known, knobs = parameters_of(SyntheticConfig), {}
        if arguments.config:
            source = read_source(Path(arguments.config), "knobs", "docs/synthetic-corpora.md")
            knobs = source.data
            if unknown := [name for name in knobs if name not in known]:
                hint = did_you_mean(unknown[0], known)
                raise DataError(f"{source.where((unknown[0],))}: no such knob.{hint}")
        knobs |= {n: value for n in known if (value := getattr(arguments, n)) is not None}
        return cls.of(knobs)

    @classmethod
    def of(cls, knobs: Mapping[str, Any]) -> SyntheticSource:
        """Make the source from knobs; a small corpus has few surveys, unless more are asked for."""
        knobs = dict(knobs)
        if "surveys" not in knobs and isinstance(knobs.get("papers"), int):
            knobs["surveys"] = min(SyntheticConfig.surveys, knobs["papers"] // PAPERS_PER_SURVEY)
        return cls(SyntheticConfig(**knobs))

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper with its number."""
        papers = progress(
            self._synthetic.papers(), total=self._config.papers, desc="synthetic", unit="paper"
        )
        for number, paper in enumerate(papers, 1):
            yield LocatedRecord(paper, "synthetic papers", number)

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey with its number."""
        for number, survey in enumerate(self._synthetic.surveys(), 1):
            yield LocatedRecord(survey, "synthetic surveys", number)

    def describe(self) -> dict[str, Any]:
        """Return the knobs."""
        return {
            "source": "synthetic",
            "config": self._config.to_dict(),
            "note": "every text is made up by a program; nothing in it is true",
        }
