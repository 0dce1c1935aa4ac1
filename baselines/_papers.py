"""A paper as organizers see it."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper as far as it is known; all but the id may be empty."""

    id: str
    title: str = ""
    abstract: str = ""
