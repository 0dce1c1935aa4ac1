"""What a simulated release is like, besides the world that it tells of."""

from __future__ import annotations

import datetime
from typing import NamedTuple

from arena.errors import DataError, clip, did_you_mean
from corpus_builder.world import WorldConfig

MOST_SHARDS = 10_000
VERSIONS = {"v1": "s2orc", "v2": "s2orc_v2"}
"""Version of the full texts -> name of their dataset."""


class Settings(NamedTuple):
    """What a simulated release is like.

    Attributes:
        release: its name, a day: ``YYYY-MM-DD``.
        shards: files of each dataset, 1 to 10,000.
        full_text: share of the papers with full text, survey papers aside, 0 to 1.
        survey_full_text: share of the survey papers with full text, 0 to 1.
        text_version: of the full texts, ``v1`` or ``v2``.
        bad: bad records for every good one, 0 to 0.5; see docs/simulated-releases.md.
    """

    release: str = "2024-02-06"
    shards: int = 16
    full_text: float = 0.15
    survey_full_text: float = 1.0
    text_version: str = "v1"
    bad: float = 0.0

    @property
    def texts(self) -> str:
        """The dataset of the full texts."""
        return VERSIONS[self.text_version]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets of the release."""
        return ("papers", "abstracts", "citations", self.texts)

    def check(self, world: WorldConfig) -> None:
        """Refuse what cannot be.

        Raises:
            DataError: naming the setting, its value and what it may be.
        """
        try:
            day = datetime.date.fromisoformat(self.release).isoformat()
        except (TypeError, ValueError):
            day = ""
        if day != self.release:
            raise DataError(f"release={clip(self.release)}: give a day, YYYY-MM-DD.")
        most = min(MOST_SHARDS, world.papers)
        if not 1 <= self.shards <= most:
            raise DataError(
                f"shards={clip(self.shards)}: give 1 to {most:,}, for {world.papers:,} papers."
            )
        for name, high in (("full_text", 1.0), ("survey_full_text", 1.0), ("bad", 0.5)):
            value = getattr(self, name)
            if not 0 <= value <= high:
                raise DataError(f"{name}={clip(value)}: give a number from 0 to {high:g}.")
        if self.text_version not in VERSIONS:
            raise DataError(
                f"text_version={clip(self.text_version)} is unknown."
                f"{did_you_mean(self.text_version, VERSIONS)}"
            )
