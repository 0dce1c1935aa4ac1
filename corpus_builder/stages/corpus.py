"""The stage ``index``: the corpus in its own format, with its indexes."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps


class Corpus:
    """Writes the corpus into the output."""

    name = "index"

    def inputs(self, plan: Plan) -> Any:
        """Return engines and fields."""
        raise NotImplementedError

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write the corpus."""
        raise NotImplementedError


INDEX = Corpus()
