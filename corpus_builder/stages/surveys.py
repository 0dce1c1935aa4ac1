"""The stage ``surveys``: which papers of the corpus are surveys (paper, section 3.1)."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps

CANDIDATES = "candidates.parquet"
"""One row a candidate, ordered by id: ``id, title, verdict``, the last of them ``survey``,
``other``, or ``unread`` where no judgement could be had."""


class Surveys:
    """Finds candidates by their titles, and has them judged."""

    name = "surveys"

    def inputs(self, plan: Plan) -> Any:
        """Return pattern, judge and its options."""
        raise NotImplementedError

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write `CANDIDATES`."""
        raise NotImplementedError


SURVEYS = Surveys()
