"""The dataset card of a built corpus: the paper's figure 4 drawn for it, and what was lost."""

from __future__ import annotations

from corpus_builder.card.page import write_card

__all__ = ["write_card"]
