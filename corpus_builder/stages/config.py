"""The configuration of the stages of a build; see docs/building.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from arena._internal.settings import Flag, Positive, Settings, Text, Whole, read_source, refusal


class Dates(Settings):
    """Section ``dates``: which publication dates are plausible.

    Attributes:
        first_year: The first year that a date may have.
        last_year: The last one; None for the year after the release's.
    """

    first_year: Positive = 1600
    last_year: Positive | None = None

    @model_validator(mode="after")
    def _check_order(self) -> Dates:
        if self.last_year is not None and self.last_year < self.first_year:
            raise refusal(f"last_year {self.last_year} is before first_year {self.first_year}.")
        return self


class Surveys(Settings):
    """Section ``surveys``: what is a survey (paper, section 3.1).

    Attributes:
        title: What a candidate's title must have: ``survey``, ``review``, ``overview``, several
            with ``|`` between, or a regular expression.
        judge: Registered name of the judge that says which candidates are surveys.
        options: Keyword arguments of the judge.
    """

    title: Text = "survey"
    judge: Text = "rules"
    options: dict[str, Any] = Field(default={})


class References(Settings):
    """Section ``references``: which surveys can be tasks (paper, section 3.2).

    Attributes:
        min_listed: References that a survey must have.
        min_available: References that a survey must have in the corpus.
        min_tasks: Surveys that must be left; 0 for a corpus to search in alone.
        influential_mentions: In-text mentions from which a reference counts as influential, besides
            those that the release marks; None for these alone.
    """

    min_listed: Whole = 1
    min_available: Whole = 1
    min_tasks: Whole = 1
    influential_mentions: Positive | None = None


def _place(value: Any, info: ValidationInfo) -> Path:
    if not isinstance(value, str):
        raise refusal(f"expected a path, not {value!r:.80}.")
    folder: Path = (info.context or {}).get("folder", Path())
    return folder / value


Place = Annotated[Path, BeforeValidator(_place)]
"""A path; a relative one starts at the directory of the configuration."""


class MindMaps(Settings):
    """Section ``mind_maps``: how gold mind-maps are made of figures (paper, section 3.3).

    Attributes:
        figures: Directory of figures with captions; None for no mind-maps. A relative path starts
            at the directory of the configuration.
        options: Keyword arguments of the extraction.
    """

    figures: Place | None = None
    options: dict[str, Any] = Field(default={})


class IndexSettings(Settings):
    """Section ``index``: which indexes the corpus has, over which fields."""

    engines: tuple[Text, ...] = ("bm25",)
    fields: tuple[Text, ...] = ("title", "abstract")


class Config(Settings):
    """A configuration.

    Attributes:
        full_text_only: Whether the corpus holds only papers with full text, as the paper's does
            (section 3.1).
        max_rejected: Share of a dataset's records that may be rejected, 0 to 1.
        allow_damaged: Whether a build goes on with the readable part of shards that end early.
        dates: Section on plausible dates.
        characters: The most characters of a full text; longer ones are left out.
        surveys: Section on the stage of the same name.
        references: Section on the stage of the same name.
        mind_maps: Section on the stage of the same name.
        index: Section on the indexes.
        prompts: File of prompts and domains of surveys, which ``arena-corpus prompts`` wrote.
    """

    full_text_only: Flag = True
    max_rejected: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.01
    allow_damaged: Flag = False
    dates: Dates = Dates()
    characters: Positive = 5_000_000
    surveys: Surveys = Surveys()
    references: References = References()
    mind_maps: MindMaps = MindMaps()
    index: IndexSettings = IndexSettings()
    prompts: Place | None = None


def read_config(
    config: str | Path | Mapping[str, Any] | None = None, changes: Mapping[str, Any] | None = None
) -> Config:
    """Read a configuration.

    Args:
        config: A YAML file or a mapping like one; None for the defaults.
        changes: Keys with dots between them, such as ``surveys.judge``, and their values.

    Raises:
        DataError: If there is no such file, or a key is unknown or of another kind; the message
            names file and line.
    """
    source = read_source({} if config is None else config, "build", "docs/building.md")
    if changes:
        source = source.changed({tuple(key.split(".")): value for key, value in changes.items()})
    return source.check(Config)
