"""What a view returns of papers."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """One search result.

    `date` is the resolved day, ``YYYY-MM-DD``. `score` is the engine's own, a float64; for
    ``bm25`` it is above 0, and comparable within one search only.
    """

    id: str
    title: str
    date: str
    score: float


class Paper(NamedTuple):
    """What is known of a paper besides its full text.

    `date` is the resolved day; `date_precision` says how much of it the source named
    (``"year"``, ``"month"`` or ``"day"``).
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
