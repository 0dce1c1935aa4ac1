"""Cited reports: reading them, finding the papers that they cite, and writing them out again."""

from arena.report.marks import cited_ids
from arena.report.model import (
    PaperFinder,
    PaperName,
    Reference,
    Report,
    ReportSection,
    Statement,
    chunks,
    resolve,
    spread,
    unfound,
)
from arena.report.reading import read_report
from arena.report.writing import write_bibtex, write_markdown

__all__ = [
    "PaperFinder",
    "PaperName",
    "Reference",
    "Report",
    "ReportSection",
    "Statement",
    "chunks",
    "cited_ids",
    "read_report",
    "resolve",
    "spread",
    "unfound",
    "write_bibtex",
    "write_markdown",
]
