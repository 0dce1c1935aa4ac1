"""Reports as models and other systems write them: pages of HTML, lists of references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.report.marks import Style
from arena.report.model import Bibliography, Inline, TextBlock
from arena.report.readers import ReportReader, report_reader
from arena_suites.reports._bibliography import (
    is_bibliography,
    is_contents,
    part,
    read_bibliography,
)
from arena_suites.reports._pages import PAGE, to_markdown
from arena_suites.reports.addresses import repair_addresses
from arena_suites.reports.marks import STYLES, as_cited

__all__ = ["is_bibliography", "read_bibliography"]


@report_reader("written")
class WrittenReports(ReportReader):
    """Markdown and HTML with marks of any style, and lists of references."""

    def as_markdown(self, text: str) -> str:
        """Return a page of HTML as Markdown, and any text with the blanks in addresses gone."""
        return repair_addresses(to_markdown(text) if PAGE.match(text) else text)

    def is_contents(self, heading: str) -> bool:
        """Return whether a heading is that of a table of contents."""
        return is_contents(heading)

    def is_list(self, heading: str) -> bool:
        """Return whether a heading is that of a list of references."""
        return is_bibliography(heading)

    def part(self, blocks: Sequence[TextBlock]) -> tuple[list[TextBlock], list[TextBlock]]:
        """Return the blocks of a report's text, and those of its lists of references."""
        return part(blocks)

    def references(self, blocks: Sequence[TextBlock]) -> Bibliography:
        """Return the entries of a list of references."""
        return read_bibliography(blocks)

    def styles(self) -> Mapping[str, Style]:
        """Return the functions that find marks, by style."""
        return STYLES

    def as_cited(self, bibliography: Bibliography, texts: Sequence[Inline]) -> Bibliography:
        """Return a list of references with the forms of marks that paragraphs may use."""
        return as_cited(bibliography, texts)
