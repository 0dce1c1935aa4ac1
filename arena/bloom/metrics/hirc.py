"""High-Impact Reference Coverage: does the survey cite the works that its field builds on?"""

from __future__ import annotations

from functools import lru_cache

from arena.bloom.article import Work
from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.matching import ratios

LEAST_CITATIONS = 51
LEAST_RATIO = 90


@survey_metric("hirc", tier="memory", columns=("f1", "precision", "recall"))
def hirc(pair: Pair) -> Finding:
    """High-Impact Reference Coverage: the experts' works with over 50 citations, in [0, 1].

    Bloom-Eval, B.1: precision over all generated references, recall over these works. The
    generated references, in their order, each take the work still free with the greatest
    `title_ratio`, at least 90; one of the same paper's id has 100. A reference without a title or
    id takes none. None if no work of the experts is known to have as many citations.
    """
    human, generated = pair.human.works, pair.generated.works
    core = [work for work in human if (work.citations or 0) >= LEAST_CITATIONS]
    taken: dict[int, Work] = {}
    for work in generated:
        free = [(_likeness(work, each), -i) for i, each in enumerate(core) if i not in taken]
        ratio, place = max(free, default=(0, 0))
        if ratio >= LEAST_RATIO:
            taken[-place] = work
    rows = [
        (each.title, str(each.citations), "found" if i in taken else "missed", taken[i].title)
        if i in taken
        else (each.title, str(each.citations), "missed", "")
        for i, each in enumerate(core)
    ]
    reason = "" if core else "none of the experts' references has more than 50 citations."
    if all(work.citations is None for work in human):
        reason = "the citations of the experts' references are unknown."
    headers = ("experts' reference", "citations", "found", "generated reference")
    return Finding(ratios(len(taken), len(core), len(generated)), rows, headers, reason)


def _likeness(a: Work, b: Work) -> int:
    if a.paper is not None and a.paper == b.paper:
        return 100
    return title_ratio(b.title, a.title) if a.title and b.title else 0


def title_ratio(a: str, b: str) -> int:
    """Return thefuzz's rounded ratio of lower-cased titles, in [0, 100].

    200 x the longest common subsequence / the sum of the lengths; 0 where the lengths alone keep
    it below 89.

    >>> title_ratio("Deep learning", "Deep Learning."), title_ratio("Graphs", "Trees of graphs")
    (96, 0)
    """
    a, b = a.lower(), b.lower()
    if a == b:
        return 100
    total = len(a) + len(b)
    if 2 * min(len(a), len(b)) < 0.89 * total:
        return 0
    # Hyyrö, 2004: a row of the table in the bits of one number, 0 where the length grows
    places = _places(a)
    row = full = (1 << len(a)) - 1
    for letter in b:
        if met := row & places.get(letter, 0):
            row = (row + met | row - met) & full
    common = len(a) - row.bit_count()
    return round(100 * (1 - (total - 2 * common) / total))  # in its order, to round as it does


@lru_cache(maxsize=4096)
def _places(text: str) -> dict[str, int]:
    """Return letter -> a number with a bit for each place of the letter."""
    places: dict[str, int] = {}
    for i, letter in enumerate(text):
        places[letter] = places.get(letter, 0) | 1 << i
    return places
