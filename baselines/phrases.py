"""Phrases: a decomposer by rules. It searches for the topic, and for the phrases in it."""

from __future__ import annotations

import re
from typing import Annotated

from annotated_types import Interval

from arena.agents import Desk, Researcher, Steps, agent
from baselines.queries import reciprocal_rank_fusion

# What ends a phrase: punctuation, and the words that join phrases or ask.
_BREAK = re.compile(
    r"[,;:?!()\[\]\"]|\.(?:\s|$)|\b(?:a|about|an|and|any|are|as|based|between|by|can|could|do|does|"
    r"for|from|give|how|in|into|is|me|of|on|or|over|papers?|please|provide|research|some|stud(?:y|ies)|"
    r"that|the|their|these|this|through|to|towards?|under|using|via|were|what|where|which|who|"
    r"with|without|works?|you)\b",
    re.IGNORECASE,
)


@agent("phrases")
class Phrases(Researcher):
    """The topic and its phrases as queries, 100 hits each, fused by reciprocal rank.

    Args:
        max_queries: Most queries, 1 to 1000: the topic, then its longest phrases.
    """

    def __init__(
        self, seed: int = 0, max_queries: Annotated[int, Interval(ge=1, le=1000)] = 10
    ) -> None:
        super().__init__(seed)
        self._max_queries = max_queries

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for the topic and every phrase, then fuse."""
        asked = [desk.topic, *phrases(desk.topic)]
        desk.ranking = reciprocal_rank_fusion(
            (yield from desk.search_many(asked[: self._max_queries], 100))
        )


def phrases(topic: str) -> list[str]:
    """Return the phrases of two words or more, the longest first, each once.

    >>> phrases("Which papers study graph neural networks for code search, and code search?")
    ['graph neural networks', 'code search']
    """
    found = dict.fromkeys(" ".join(part.split()) for part in _BREAK.split(topic))
    return sorted((p for p in found if " " in p), key=lambda p: -len(p.split()))
