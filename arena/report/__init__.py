"""Cited reports: reading them, and finding the papers that they cite."""

from arena.report.marks import cited_ids
from arena.report.model import (
    PaperFinder,
    PaperName,
    Reference,
    Report,
    ReportSection,
    Statement,
    resolve,
    unfound,
)
from arena.report.reading import read_report

__all__ = [
    "PaperFinder",
    "PaperName",
    "Reference",
    "Report",
    "ReportSection",
    "Statement",
    "cited_ids",
    "read_report",
    "resolve",
    "unfound",
]
