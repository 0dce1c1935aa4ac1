"""The types in which papers are returned, and how much of them an agent may see or submit.

Nothing here knows a corpus, so agents and tools share it.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_SUBMITTED = 1_000
"""Most ids in a ranking, the usual depth of a TREC run; deeper ranks do not count."""

MAX_LISTED = 1_000
"""Most papers with which an episode begins."""

MAX_QUERY = 10_000
"""Longest query in characters."""

MAX_QUERIES = 16
"""Most queries of one search."""

MAX_TITLE = 500
"""Characters of a title that are shown."""

PER_PAGE = 100
"""References or citations on one page."""

PAGE = 8_000
"""Characters of text on one page of a paper."""

SECTIONS = 100
"""Most sections of a paper that are listed."""

SECTION_NAME = 100
"""Characters of a section's name that are listed."""

# Bounds of what a result shows, in characters; one character may take six in JSON.
LARGEST_HIT = 6 * MAX_TITLE + 1_000
LARGEST_READ = 6 * (PAGE + 2 * MAX_TITLE + SECTIONS * SECTION_NAME) + 6_000


class Hit(NamedTuple):
    """One paper of a list: a search result, a reference or a citation.

    `date` is the resolved day, ``YYYY-MM-DD``. `score` is the engine's own, a float64; for
    ``bm25`` it is above 0, and comparable within one search only; it is 0 in lists of references
    and citations.
    """

    id: str
    title: str
    date: str
    score: float = 0.0


class Paper(NamedTuple):
    """A paper without its full text.

    `date` is the resolved day; `date_precision` says how much of it the source named
    (``"year"``, ``"month"`` or ``"day"``), or that none does (``"guessed"``, ``"stand-in"``).
    """

    id: str
    title: str
    abstract: str
    date: str
    date_precision: str
    venue: str | None
    authors: tuple[str, ...]
    fields: tuple[str, ...]


class Section(NamedTuple):
    """A section of a paper's full text."""

    heading: str
    text: str


class Brief(NamedTuple):
    """A paper as lists of papers name it; `date` is the resolved day, ``YYYY-MM-DD``."""

    id: str
    title: str
    date: str
