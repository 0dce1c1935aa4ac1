"""Readers of what reports of other systems have: other forms of text, lists of references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.plugins import Registry
from arena.report.marks import Style, pandoc
from arena.report.model import Bibliography, Inline, TextBlock


class ReportReader:
    """Reads reports that cite by ``[@id]`` alone; a reader of other forms replaces its methods."""

    def as_markdown(self, text: str) -> str:
        """Return a text in another form, such as a page of HTML, as Markdown."""
        return text

    def is_contents(self, heading: str) -> bool:
        """Return whether a heading is that of a table of contents."""
        return False

    def is_list(self, heading: str) -> bool:
        """Return whether a heading is that of a list of references."""
        return False

    def part(self, blocks: Sequence[TextBlock]) -> tuple[list[TextBlock], list[TextBlock]]:
        """Return the blocks of a report's text, and those of its lists of references."""
        return list(blocks), []

    def references(self, blocks: Sequence[TextBlock]) -> Bibliography:
        """Return the entries of a list of references."""
        return Bibliography((), {}, False)

    def styles(self) -> Mapping[str, Style]:
        """Return the functions that find marks, by style, the most certain first."""
        return {"pandoc": pandoc}

    def as_cited(self, bibliography: Bibliography, texts: Sequence[Inline]) -> Bibliography:
        """Return a list of references with the forms of marks that paragraphs may use."""
        return bibliography


REPORT_READERS: Registry[type[ReportReader]] = Registry("report reader", base=ReportReader)
report_reader = REPORT_READERS.register
"""Decorator: ``@report_reader("name")``."""


def report_reader_in_use() -> ReportReader:
    """Return the registered reader, the first by name if there are several."""
    names = REPORT_READERS.names()
    return REPORT_READERS.get(names[0])() if names else ReportReader()
