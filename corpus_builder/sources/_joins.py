"""Join what a survey lists to the papers of a collection, and count what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.dates import parse_date
from corpus_builder.sources._collection import Collection, Match, Sought
from corpus_builder.sources._titles import normal_title

COUNTS = ("listed", "by_id", "by_title", "not_found", "repeated", "ambiguous", "years_apart")
"""What a join counts: ``listed`` is the sum of the next four. ``repeated``: entries for a paper,
or with a title, that the survey has listed before. ``ambiguous``: of those found, the ones that
had several candidates. ``years_apart``: of those found by title, the ones whose year, as listed,
is three or more away from the paper's: false joins are among them, if there are any."""

_APART = 3
_PLAUSIBLE = range(1800, 2100)


class Joined(NamedTuple):
    """The references of one survey after a join.

    Attributes:
        ids: of the papers, in the order listed, each once.
        places: for each entry, the id of its paper, or None.
        counts: see `COUNTS`.
    """

    ids: list[str]
    places: list[str | None]
    counts: dict[str, int]

    @property
    def distinct(self) -> int:
        """How many different works the survey lists, found or not."""
        return self.counts["listed"] - self.counts["repeated"]


def join(listed: Sequence[Sought], collection: Collection) -> Joined:
    """Look every entry up, by identifier and then by title."""
    counts = dict.fromkeys(COUNTS, 0)
    counts["listed"] = len(listed)
    ids: dict[str, None] = {}
    places: list[str | None] = []
    missed: set[str] = set()
    for entry in listed:
        match = collection.find(entry)
        places.append(match.paper.id if match else None)
        known = match.paper.id in ids if match else _missed_before(entry, missed)
        if known:
            counts["repeated"] += 1
        elif match is None:
            counts["not_found"] += 1
        else:
            ids[match.paper.id] = None
            counts[f"by_{match.by}"] += 1
            counts["ambiguous"] += match.candidates > 1
            counts["years_apart"] += _apart(entry, match)
    return Joined(list(ids), places, counts)


def _missed_before(entry: Sought, missed: set[str]) -> bool:
    names = {*entry.keys, normal_title(entry.title)} - {""}
    known = not names.isdisjoint(missed)
    missed |= names
    return known


def _apart(entry: Sought, match: Match) -> bool:
    if match.by != "title" or not match.paper.dated:
        return False
    if entry.year is None or entry.year not in _PLAUSIBLE:
        return False
    return abs(entry.year - int(str(parse_date(match.paper.date))[:4])) >= _APART
