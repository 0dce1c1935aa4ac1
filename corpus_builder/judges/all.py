"""All: every candidate is a survey, as in a release of surveys that were chosen before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corpus_builder.judges.base import JUDGES, SURVEY, Candidate, Verdict


@JUDGES.register("all")
class All:
    """Every candidate is a survey."""

    batch = 4096

    @property
    def config(self) -> dict[str, Any]:
        """An empty configuration."""
        return {}

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Return ``survey`` for each."""
        return [Verdict(SURVEY, "every candidate") for _ in candidates]
