"""What the styles of citation read and return."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from arena.report.model import Reference

BREAK = "\ue001"
"""Ends a sentence within a paragraph: a line break, a cell's or a row's end."""

HIDDEN = "\x00"
"""Stands in `Inline.bare` for each character of code or of a formula."""


class Link(NamedTuple):
    """A link of Markdown: where its text stands, and its address."""

    start: int
    end: int
    address: str


class Inline(NamedTuple):
    """The text of one paragraph, list item, row of a table or heading, without markup.

    Attributes:
        text: Plain text; superscripts are ``^{...}``.
        bare: `text` with code and formulas hidden, character by character: marks are sought here.
        links: Links in order.
    """

    text: str
    bare: str
    links: tuple[Link, ...] = ()


class Mark(NamedTuple):
    """A mark of citation in a text.

    Attributes:
        start: First character.
        end: Character after the last one.
        references: What it cites.
        kept: Whether the mark is part of the sentence, as in "Smith (2020) finds".
    """

    start: int
    end: int
    references: tuple[Reference, ...]
    kept: bool = False


class Bibliography(NamedTuple):
    """The entries of a report's reference list.

    Attributes:
        references: Entries in order.
        names: What marks call an entry (a number, ``smith 2020``) -> its reference.
        bare: Whether numbers without brackets are marks.
        authors: Whether authors with a year are marks.
        rounded: Whether numbers in round brackets are marks.
    """

    references: tuple[Reference, ...] = ()
    names: Mapping[str, Reference] = MappingProxyType({})
    bare: bool = False
    authors: bool = False
    rounded: bool = False

    def cited(self, name: str) -> Reference:
        """Return the entry of that name, or a reference without an entry."""
        return self.names.get(name) or Reference(name)
