"""Cited reports: reading them, and finding the papers that they cite."""

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
]
