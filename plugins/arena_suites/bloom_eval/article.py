"""A survey as metrics read it, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from arena.report import Reference, Report


class Heading(NamedTuple):
    """A line of an outline: ``level`` is 0 for the title, 1 for a section and so on."""

    level: int
    text: str


class Work(NamedTuple):
    """An entry of the bibliography; texts are empty and numbers None where they are unknown.

    `citations` is how many works cite it, `key` what the statements of the report cite it by, and
    `paper` the id of the paper in a corpus.
    """

    title: str
    abstract: str = ""
    citations: int | None = None
    key: str = ""
    paper: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None


class Article(NamedTuple):
    """A survey.

    Attributes:
        text: Markdown of the whole.
        outline: Its headings in order; of level 0 the title alone, if it is in.
        parts: All headings in the order of the text, abstract and bibliography included.
        body: The text as the released code reads it for citations; empty if it is `text`.
        entries: The entries of its list of references that go with `body`.
    """

    title: str
    text: str
    outline: tuple[Heading, ...]
    parts: tuple[str, ...]
    works: tuple[Work, ...]
    report: Report
    body: str = ""
    entries: tuple[str, ...] = ()


def is_listed(reference: Reference) -> bool:
    """Return whether a reference has an entry, or is a paper of the corpus cited by its id."""
    return bool(reference.text) or f"corpus:{reference.paper}" in reference.ids


def article_of(
    report: Report, text: str, know: Callable[[Reference], Work | None] = lambda _: None
) -> Article:
    """Return a report and its Markdown as an article.

    `know` returns what else is known of a reference, such as its abstract; None for nothing.
    """
    headings = [section for section in report.sections if section.heading]
    top = min((section.level for section in headings), default=1) - 1
    works, references = [], []
    for reference in report.references:
        known = know(reference) or Work(reference.title)
        paper = reference.paper or known.paper
        works.append(known._replace(key=reference.key, paper=paper))
        references.append(reference._replace(paper=paper))
    report = report._replace(references=tuple(references))
    parts = [section.heading for section in headings]
    return Article(
        report.title,
        text,
        (
            *([Heading(0, report.title)] if report.title else []),
            *(Heading(section.level - top, section.heading) for section in headings),
        ),
        (*parts, *(["References"] if any(map(is_listed, references)) else [])),
        tuple(works),
        report,
    )
