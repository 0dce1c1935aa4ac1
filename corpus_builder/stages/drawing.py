"""The stage ``card``: the dataset card of the corpus."""

from __future__ import annotations

from typing import Any

from corpus_builder.stages._plan import Plan
from corpus_builder.stages._stage import Steps


class Card:
    """Writes the card into the corpus."""

    name = "card"
    keeps: tuple[str, ...] = ()

    def inputs(self, plan: Plan) -> Any:
        """Return nothing: all is in the corpus."""
        return None

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write the card; return its counts."""
        from corpus_builder.card import write_card

        resources = plan.resources
        card = write_card(
            plan.output,
            memory=resources.database,
            threads=resources.threads,
            scratch=steps.scratch(),
        )
        counts: dict[str, Any] = card["counts"]
        return counts


CARD = Card()
