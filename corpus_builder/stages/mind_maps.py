"""The stage ``mind-maps``: trees made of the figures of surveys (paper, section 3.3)."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps

MAPS = "mind_maps.parquet"
"""One row a survey with a mind-map, ordered by survey: ``survey, mind_map`` (JSON text)."""


class MindMaps:
    """Picks a figure of each survey, and has it read into a tree."""

    name = "mind-maps"

    def inputs(self, plan: Plan) -> Any:
        """Return the figures and the options."""
        raise NotImplementedError

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write `MAPS`."""
        raise NotImplementedError


MIND_MAPS = MindMaps()
