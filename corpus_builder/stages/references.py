"""The stage ``references``: documents in order, links between them, tasks (paper, section 3.2)."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps


class References:
    """Links the papers of the corpus."""

    name = "references"

    def inputs(self, plan: Plan) -> Any:
        """Return what the configuration says of references."""
        raise NotImplementedError

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write documents, links, surveys and their references."""
        raise NotImplementedError


REFERENCES = References()
