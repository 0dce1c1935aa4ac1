"""Reports: sections of Markdown, the statements in them, and the papers that they cite."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import arena.counted as re
from arena.text.identifiers import arxiv_key, normal_title, title_words


class Reference(NamedTuple):
    """One entry of a report's bibliography, or what a citation names where no entry explains it.

    Attributes:
        key: What citations name: ``12``, a paper's id, ``smith 2020`` or an address; distinct.
        text: The entry as written; empty without an entry.
        title: Title of the cited work as far as the entry gives it; empty if it does not.
        ids: Identifiers that the entry names, as ``corpus:ID`` (cited by its id),
            ``arxiv:2010.11929``, ``doi:10.1000/x``, ``openreview:ID``,
            ``acl:2024.acl-long.361``, ``openalex:W1``, ``s2:CorpusID:1``, ``s2:HASH`` or
            ``url:ADDRESS``.
        year: Year that the entry names.
        paper: Id of the paper in the corpus; None while unresolved.
    """

    key: str
    text: str = ""
    title: str = ""
    ids: tuple[str, ...] = ()
    year: int | None = None
    paper: str | None = None


class ReportSection(NamedTuple):
    """One section without its subsections.

    Attributes:
        heading: Heading as plain text; empty for text before the first heading.
        level: Depth of the heading, from 1; the title of the report is not a section.
    """

    heading: str
    level: int
    text: str


class Statement(NamedTuple):
    """One sentence.

    Attributes:
        text: The sentence as plain text, without the marks of its citations.
        section: Place of its section in `Report.sections`.
        citations: Keys of the references that it cites, distinct, in order.
    """

    text: str
    section: int
    citations: tuple[str, ...] = ()


class Report(NamedTuple):
    """A report.

    Attributes:
        sections: Sections in order, the bibliography left out.
        references: The bibliography in its order, then what is cited without an entry. Keys are
            distinct, and every citation of a statement is one of them.
        styles: Names of the styles in which it cites, in alphabetical order.
        unread: Why its references cannot be read, of a report with a list and no citation; or "".
    """

    title: str
    sections: tuple[ReportSection, ...] = ()
    statements: tuple[Statement, ...] = ()
    references: tuple[Reference, ...] = ()
    styles: tuple[str, ...] = ()
    unread: str = ""

    @property
    def cited(self) -> tuple[Reference, ...]:
        """The references that statements cite, in order of their first citation."""
        by_key = {reference.key: reference for reference in self.references}
        cited = (key for statement in self.statements for key in statement.citations)
        return tuple(by_key[key] for key in dict.fromkeys(cited))


BREAK = "\ue001"
"""Ends a sentence within a paragraph: a line break, a cell's or a row's end."""

HIDDEN = "\x00"
"""Stands in `Inline.bare` for each character of code or of a formula."""

MATH = re.compile(
    r"\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<inline>(?:[^$\\]|\\.){1,2000}?)\$(?!\d)"
    r"|\\\((?P<round>(?:(?!\\[()]).){1,2000}?)\\\)"
    r"|\\\[(?P<square>(?!\s*+\^?+[\d,;\s–-]*+\\\])[^\[\]]{1,5000}?)\\\]",
    re.DOTALL,
)
"""A formula of Markdown."""


class Link(NamedTuple):
    """A link of Markdown: where its text stands, its address, and its title if it has one."""

    start: int
    end: int
    address: str
    title: str = ""


class Inline(NamedTuple):
    """The text of one paragraph, list item, row of a table or heading, without markup.

    Attributes:
        text: Plain text; superscripts are ``^{...}``.
        bare: `text` with code and formulas hidden, character by character: marks are sought here.
    """

    text: str
    bare: str
    links: tuple[Link, ...] = ()


class TextBlock(NamedTuple):
    """A heading, paragraph, list item, row of a table, or a block of HTML.

    Attributes:
        line: Its first line, from 0.
        end: The line after its last.
        number: Number of a numbered list's item, whose first paragraph this is.
    """

    level: int
    line: int
    end: int
    number: str
    is_item: bool
    inline: Inline


class Mark(NamedTuple):
    """A mark of citation in a text.

    Attributes:
        kept: Whether the mark is part of the sentence, as in "Smith (2020) finds".
    """

    start: int
    end: int
    references: tuple[Reference, ...]
    kept: bool = False


class Bibliography(NamedTuple):
    """The entries of a report's reference list.

    Attributes:
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


def unaccented(text: str) -> str:
    """Return a text without accents, of the same length."""
    return "".join(unicodedata.normalize("NFD", character)[0] for character in text)


# The papers of a corpus that a report cites


class PaperName(NamedTuple):
    """The names of a paper.

    Attributes:
        ids: ``arxiv:...`` and ``doi:...`` as `arena.text.identifiers` writes them.
    """

    id: str
    title: str
    ids: tuple[str, ...] = ()


_WORDS = 4
_ByWords = dict[tuple[str, ...], dict[tuple[str, ...], tuple[int, str]]]


def _titles_in(words: tuple[str, ...], index: _ByWords) -> Iterator[tuple[str, ...]]:
    for place in range(len(words) - _WORDS + 1):
        titles = index.get(words[place : place + _WORDS], {})
        for length in {len(title) for title in titles}:
            if (found := words[place : place + length]) in titles:
                yield found


class PaperFinder:
    """Finds papers by id, arXiv id, DOI or title, and in entries of any form.

    Of two papers with one identifier or one title, the first that is given is found.
    """

    def __init__(self, names: Iterable[PaperName]) -> None:
        self._titles: dict[str, str] = {}
        self._by_id: dict[str, str] = {}
        self._by_title: dict[str, str] = {}
        own: dict[str, str] = {}
        for name in names:
            own[f"corpus:{name.id}"] = name.id
            self._titles[name.id] = name.title
            for key in (*name.ids, arxiv_key(name.id)):
                if key:
                    self._by_id.setdefault(key, name.id)
            if key := normal_title(name.title):
                self._by_title.setdefault(key, name.id)
        self._by_id.update(own)

    def find(self, reference: Reference) -> str | None:
        """Return the id of the paper that a reference names; None if there is none.

        Identifiers come first, in the order of `Reference.ids`, then the title: case,
        punctuation, accents and markup do not count. Then comes `within`.
        """
        return self.named(reference) or self.within(reference)[1]

    def named(self, reference: Reference) -> str | None:
        """Return what `find` does by identifiers and by an equal title alone."""
        for key in reference.ids:
            own = re.sub("^(?:openalex|s2:CorpusID):", "corpus:", key)  # collections of these
            if paper := self._by_id.get(key) or self._by_id.get(own):
                return paper
        return self._by_title.get(normal_title(reference.title)) if reference.title else None

    def within(self, reference: Reference) -> tuple[int, str | None]:
        """Return the longest title that a reference's entry contains: its length, and its paper.

        It has four words or more, stands at word boundaries, and is no part of another paper's
        longer title; of equal length the first that was given counts. Entries of any form, such as
        ``TITLE, NeurIPS 2017``, are found. Time does not depend on the number of papers.
        """
        words = tuple(title_words(reference.text))
        found = (
            (-sum(map(len, title)), *self._by_words[title[:_WORDS]][title])
            for title in _titles_in(words, self._by_words)
        )
        length, _, paper = min(found, default=(0, 0, None))
        return -length, paper

    @cached_property
    def _by_words(self) -> _ByWords:
        """First words of titles that are no parts of longer ones -> all words -> place, paper."""
        index: _ByWords = {}
        for place, (paper, title) in enumerate(self._titles.items()):
            if len(words := tuple(title_words(title))) >= _WORDS:
                index.setdefault(words[:_WORDS], {}).setdefault(words, (place, paper))
        every = [title for titles in index.values() for title in titles]
        parts = {part for title in every for part in _titles_in(title, index) if part != title}
        for part in parts:
            del index[part[:_WORDS]][part]
        return index

    def resolve(self, reference: Reference) -> Reference:
        """Return the reference with its paper, and with the paper's title if it has none."""
        paper = self.find(reference)
        title = reference.title or self._titles.get(paper or "", "")
        return reference._replace(paper=paper, title=title)


def resolve(report: Report, finder: PaperFinder) -> Report:
    """Return the report with `Reference.paper` filled wherever the corpus has the paper.

    A reference without a title, such as a citation by id, gets that of its paper.
    """
    return report._replace(references=tuple(map(finder.resolve, report.references)))


def unfound(report: Report) -> str:
    """Return a remark if most entries of a report's list are unresolved; else ""."""
    listed = [reference for reference in report.references if reference.text]
    found = sum(reference.paper is not None for reference in listed)
    few = 2 * found < len(listed)
    return f"{found} of {len(listed)} listed entries were found" if few else ""
