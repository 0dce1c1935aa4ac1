"""Papers of two trees that are named by their titles: which is which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

THRESHOLD = 0.92
"""Least similarity of two titles of one paper, as in TaxoBench's released scorer."""


def normalised(title: str) -> str:
    """Return the title in lower case, with one blank for all that is no letter, digit or ``_``."""
    return " ".join(re.sub(r"\W", " ", title.lower()).split())


def released_similarity(a: str, b: str) -> float:
    """Return the similarity of two texts as TaxoBench's released scorer 0.2.0 takes it.

    1 if the normalised texts are equal or one contains the other, 0 if one is empty, else the ratio
    of `difflib.SequenceMatcher`, which depends on the order of the two. In [0, 1].
    """
    a, b = normalised(a), normalised(b)
    if not a or not b:
        return 0.0
    if a in b or b in a:
        return 1.0
    return SequenceMatcher(None, a, b).ratio()


def released_alignment(references: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """Return the place in `titles` of each reference, as TaxoBench's released scorer 0.2.0 does.

    In the order of the references, each takes the most similar title that is still free, the first
    of equals, if the similarity is at least 0.92.
    """
    free = dict(enumerate(titles))
    places: list[int | None] = []
    for reference in references:
        best, place = 0.0, None
        for candidate, title in free.items():
            similarity = released_similarity(reference, title)
            if similarity > best:
                best, place = similarity, candidate
        places.append(place if best >= THRESHOLD else None)
        if best >= THRESHOLD and place is not None:
            del free[place]
    return places


def alignment(references: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """Return the place in `titles` of each reference: equal titles first, then the most similar.

    Titles are compared in their normalised form. First every reference takes the first free title
    that equals its own; then the most similar of the remaining pairs, down to a ratio of 0.92, are
    joined, ties in the order of the references and of the titles. A title that contains another is
    another paper ("Attention" and "Attention is all you need").
    """
    keys = [normalised(title) for title in references]
    others = [normalised(title) for title in titles]
    places: list[int | None] = []
    free: dict[str, list[int]] = {}
    for place, other in enumerate(others):
        free.setdefault(other, []).append(place)
    for key in keys:
        places.append(free[key].pop(0) if key and free.get(key) else None)
    left = sorted(place for group in free.values() for place in group if others[place])
    pairs = []
    for number, key in enumerate(keys):
        if places[number] is not None or not key:
            continue
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(key)
        for place in left:
            matcher.set_seq1(others[place])
            if matcher.real_quick_ratio() >= THRESHOLD and matcher.quick_ratio() >= THRESHOLD:
                pairs.append((-matcher.ratio(), number, place))
    taken: set[int] = set()
    for ratio, number, place in sorted(pairs):
        if -ratio >= THRESHOLD and places[number] is None and place not in taken:
            places[number] = place
            taken.add(place)
    return places
