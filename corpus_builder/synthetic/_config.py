"""The knobs of a synthetic corpus and their valid ranges."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval

from arena.errors import DataError
from arena.kit.options import check_options

PAPERS_PER_SURVEY = 10
"""A survey needs papers to cite: a synthetic corpus has at most one for this many."""

Share = Annotated[float, Interval(ge=0, le=1)]


@dataclass(frozen=True)
class SyntheticConfig:
    """The knobs of a made-up field of science. The same knobs always give the same corpus.

    A share is in [0, 1]. docs/synthetic-corpora.md says what each knob does to a search.

    Args:
        seed: Which synthetic corpus; 0 or more.
        papers: Number of paper records, survey papers included; 20 or more.
        surveys: Number of surveys with a gold mind-map; at most one for ten papers.
        depth: Levels of subjects below the field, 1 to 6. Surveys treat subjects at level
            ``max(1, depth // 2)``, so that a mind-map has 0, 1, 2, 2, 3 or 3 levels of subjects
            below its root.
        synonymy: Probability that a paper's text says a subject it belongs to in other words than
            its canonical term, drawn for each paper and each level of the hierarchy.
        distractors: Share of the papers that mention the canonical term of a neighbouring subject,
            to which they do not belong: a few times in the text, now and then in the abstract,
            seldom in the title.
        reference_noise: Share of a survey's references that lie outside its subject.
        year_only: Share of the dated papers, survey papers aside, with nothing but a year as date.
            They count as the year's last day.
        influential: Share of references marked influential. In surveys these are sooner papers that
            are much cited and typical of the subject.
        undated: Share of the papers, survey papers aside, without any date. Nobody cites them.
        first_year: The first year of the field, 1000 to 9000.
        years: Length of the period in years, 1 to 500.
        citations: ``even``, or ``measured``: who cites whom is fitted to a network of real papers.
    """

    seed: Annotated[int, Interval(ge=0, le=2**63 - 1)] = 7
    papers: Annotated[int, Interval(ge=20, le=5_000_000)] = 3000
    surveys: Annotated[int, Interval(ge=0, le=500_000)] = 30
    depth: Annotated[int, Interval(ge=1, le=6)] = 3
    synonymy: Share = 0.5
    distractors: Share = 0.4
    reference_noise: Share = 0.15
    year_only: Share = 0.15
    influential: Share = 0.15
    undated: Share = 0.01
    first_year: Annotated[int, Interval(ge=1000, le=9000)] = 2001
    years: Annotated[int, Interval(ge=1, le=500)] = 20
    citations: Literal["even", "measured"] = "even"

    def __post_init__(self) -> None:
        for name, value in check_options("synthetic", SyntheticConfig, vars(self)).items():
            object.__setattr__(self, name, value)  # YAML reads a share of 0 as an integer
        if self.surveys * PAPERS_PER_SURVEY > self.papers:
            raise DataError(
                f"the knob surveys is {self.surveys}, too many for papers={self.papers}: at most "
                f"{self.papers // PAPERS_PER_SURVEY} surveys (one for {PAPERS_PER_SURVEY} papers); "
                f"lower surveys or raise papers to {self.surveys * PAPERS_PER_SURVEY}."
            )

    def to_dict(self) -> dict[str, int | float | str]:
        """Return the knobs as a flat mapping; ``SyntheticConfig(**config.to_dict()) == config``."""
        knobs = dataclasses.asdict(self)
        if self.citations == "even":
            del knobs[
                "citations"
            ]  # a synthetic corpus made before this knob existed keeps its bytes
        return knobs

    def rng(self, purpose: int, part: int = 0) -> np.random.Generator:
        """Return the generator of one purpose, which no knob but the seed changes."""
        sequence = np.random.SeedSequence([self.seed, purpose, part])
        return np.random.Generator(np.random.PCG64(sequence))
