"""The stage ``card``: the dataset card of the corpus."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps


class Card:
    """Writes the card into the corpus."""

    name = "card"

    def inputs(self, plan: Plan) -> Any:
        """Return nothing: all is in the corpus."""
        raise NotImplementedError

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write the card."""
        raise NotImplementedError


CARD = Card()
