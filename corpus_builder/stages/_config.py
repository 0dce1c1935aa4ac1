"""What a configuration may say of the stages; see docs/building.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.settings import Section, read_source
from arena.errors import DataError, clip

_KEYS = ("full_text_only", "max_rejected", "allow_damaged", "dates", "characters", "surveys",
         "references", "mind_maps", "index")  # fmt: skip


class Surveys(NamedTuple):
    """Section ``surveys``: what is a survey (paper, section 3.1).

    Attributes:
        title: what a candidate's title must have: ``survey``, ``review``, ``overview``, several
            with ``|`` between, or a regular expression.
        judge: registered name of what says which candidates are surveys.
        options: of the judge.
    """

    title: str = "survey"
    judge: str = "rules"
    options: Mapping[str, Any] = {}


class References(NamedTuple):
    """Section ``references``: which surveys can be tasks (paper, section 3.2).

    Attributes:
        min_listed: references that a survey must have.
        min_available: references that a survey must have in the corpus.
        min_tasks: surveys that must be left; 0 for a corpus to search in alone.
        influential_mentions: in-text mentions from which a reference counts as influential, besides
            those that the release marks; None for these alone.
    """

    min_listed: int = 1
    min_available: int = 1
    min_tasks: int = 1
    influential_mentions: int | None = None


class MindMaps(NamedTuple):
    """Section ``mind_maps``: how gold mind-maps are made of figures (paper, section 3.3).

    Attributes:
        figures: folder of figures with captions; None for no mind-maps.
        options: of the extraction.
    """

    figures: Path | None = None
    options: Mapping[str, Any] = {}


class Index(NamedTuple):
    """Section ``index``: which indexes the corpus gets."""

    engines: tuple[str, ...] = ("bm25",)
    fields: tuple[str, ...] = ("title", "abstract")


class Config(NamedTuple):
    """A configuration.

    Attributes:
        full_text_only: the corpus holds only papers with full text, as the paper's (section 3.1).
        max_rejected: share of a dataset's records that may be rejected, 0 to 1.
        allow_damaged: go on with what can be read of shards that end early.
        first_year: of a plausible date.
        last_year: of a plausible date; None for the year after the release's.
        characters: of a full text; longer ones are left out.
        surveys, references, mind_maps, indexing: of the stages.
    """

    full_text_only: bool = True
    max_rejected: float = 0.01
    allow_damaged: bool = False
    first_year: int = 1600
    last_year: int | None = None
    characters: int = 5_000_000
    surveys: Surveys = Surveys()
    references: References = References()
    mind_maps: MindMaps = MindMaps()
    indexing: Index = Index()


def read_config(
    config: str | Path | Mapping[str, Any] | None = None, changes: Mapping[str, Any] | None = None
) -> Config:
    """Read a configuration.

    Args:
        config: a YAML file or a mapping like one; None for the defaults.
        changes: keys with dots between them, such as ``surveys.judge``, and their values.

    Raises:
        DataError: If there is no such file, or a key is unknown or of another kind; the message
            names file and line.
    """
    source = read_source({} if config is None else config, "build", "docs/building.md")
    if changes:
        source = source.changed({tuple(key.split(".")): value for key, value in changes.items()})
    root = Section(source, (), source.data, _KEYS)
    default = Config()
    dates = Section(source, ("dates",), root.mapping("dates", {}), ("first_year", "last_year"))
    surveys = Section(
        source, ("surveys",), root.mapping("surveys", {}), ("title", "judge", "options")
    )
    references = Section(
        source, ("references",), root.mapping("references", {}), References._fields
    )
    maps = Section(source, ("mind_maps",), root.mapping("mind_maps", {}), ("figures", "options"))
    index = Section(source, ("index",), root.mapping("index", {}), Index._fields)
    share = root.get("max_rejected", default.max_rejected)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        root.refuse(("max_rejected",), f"expected a share from 0 to 1, not {clip(share)}.")
    figures = maps.text("figures", None)
    mentions = references.whole("influential_mentions", None, 1)
    found = Config(
        root.flag("full_text_only", default.full_text_only),
        float(share),
        root.flag("allow_damaged", default.allow_damaged),
        dates.whole("first_year", default.first_year, 1),
        dates.whole("last_year", None, 1),
        root.whole("characters", default.characters, 1),
        Surveys(
            surveys.text("title", default.surveys.title),
            surveys.text("judge", default.surveys.judge),
            surveys.mapping("options", {}),
        ),
        References(
            references.whole("min_listed", default.references.min_listed, 0),
            references.whole("min_available", default.references.min_available, 0),
            references.whole("min_tasks", default.references.min_tasks, 0),
            mentions,
        ),
        MindMaps(None if figures is None else source.folder / figures, maps.mapping("options", {})),
        Index(
            tuple(index.texts("engines", list(default.indexing.engines))),
            tuple(index.texts("fields", list(default.indexing.fields))),
        ),
    )
    if found.last_year is not None and found.last_year < found.first_year:
        raise DataError(
            f"{source.where(('dates',))}: last_year {found.last_year} is before first_year "
            f"{found.first_year}."
        )
    return found
