"""Sub-topics that the titles of the best papers name."""

from __future__ import annotations

import math
from collections.abc import Sequence

from baselines._phrases import Phrase, phrases, stems_of


def subtopics(titles: Sequence[str], weights: Sequence[float], topic: str, most: int) -> list[str]:
    """Return phrases of two or three words that name parts of the topic.

    Greedily: the phrase with the greatest weight (the sum over the titles that hold it, times the
    root of its number of words) of those that are in at least two titles, at least half of which
    no earlier phrase is in. A phrase of the topic's own words names no part of it.

    Args:
        titles: of the best papers.
        weights: of each title, >= 0.
        topic: the survey's title.
        most: how many phrases at most.

    Returns:
        Phrases as they stand in the first title that holds them; equals in order of appearance.
    """
    own = stems_of(topic)
    holding: dict[tuple[str, ...], set[int]] = {}
    surface: dict[tuple[str, ...], Phrase] = {}
    for number, title in enumerate(titles):
        for phrase in phrases(title):
            if len(phrase.stems) > 1 and not own.issuperset(phrase.stems):
                holding.setdefault(phrase.stems, set()).add(number)
                surface.setdefault(phrase.stems, phrase)

    def value(stems: tuple[str, ...]) -> float:
        total = sum(weights[number] for number in sorted(holding[stems]))
        return round(total * math.sqrt(len(stems)), 9)

    found: list[str] = []
    covered: set[int] = set()
    for stems in sorted(holding, key=value, reverse=True):
        fresh = len(holding[stems] - covered)
        if len(found) < most and len(holding[stems]) > 1 and 2 * fresh >= len(holding[stems]):
            found.append(surface[stems].surface)
            covered |= holding[stems]
    return found
