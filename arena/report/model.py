"""What a report is: sections of Markdown, the statements in them, and the papers that they cite."""

from __future__ import annotations

from typing import NamedTuple


class Reference(NamedTuple):
    """One entry of a report's bibliography, or what a citation names where no entry explains it.

    Attributes:
        key: What citations name: ``12``, a paper's id, ``smith 2020`` or an address; distinct.
        text: The entry as written; empty without an entry.
        title: Title of the cited work as far as the entry tells it; empty if it does not.
        ids: Identifiers that the entry names, as ``corpus:ID`` (cited by its id),
            ``arxiv:2010.11929``, ``doi:10.1000/x``, ``openreview:ID``,
            ``acl:2024.acl-long.361``, ``s2:ID`` or ``url:ADDRESS``.
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
        level: Depth of the heading, from 1; the title of the report is no section.
        text: Markdown source.
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
        title: Title; empty if it has none.
        sections: Sections in order, the bibliography left out.
        statements: Sentences in order.
        references: The bibliography in its order, then what is cited without an entry. Keys are
            distinct, and every citation of a statement is one of them.
        styles: Names of the styles in which it cites, in alphabetical order.
    """

    title: str
    sections: tuple[ReportSection, ...] = ()
    statements: tuple[Statement, ...] = ()
    references: tuple[Reference, ...] = ()
    styles: tuple[str, ...] = ()

    @property
    def cited(self) -> tuple[Reference, ...]:
        """The references that statements cite, in order of their first citation."""
        by_key = {reference.key: reference for reference in self.references}
        cited = (key for statement in self.statements for key in statement.citations)
        return tuple(by_key[key] for key in dict.fromkeys(cited))
