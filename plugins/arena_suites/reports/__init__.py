"""Reports as models and other systems write them: pages of HTML, lists of references."""

from __future__ import annotations

from collections.abc import Mapping

from arena.report.marks import Style
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

    is_contents = staticmethod(is_contents)
    is_list = staticmethod(is_bibliography)
    part = staticmethod(part)
    references = staticmethod(read_bibliography)
    as_cited = staticmethod(as_cited)

    def as_markdown(self, text: str) -> str:
        """Return a page of HTML as Markdown, and any text with the blanks in addresses gone."""
        return repair_addresses(to_markdown(text) if PAGE.match(text) else text)

    def styles(self) -> Mapping[str, Style]:
        """Return the functions that find marks, by style."""
        return STYLES
