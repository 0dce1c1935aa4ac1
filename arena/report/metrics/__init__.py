"""Metrics of reports, and what they count; each module here has a family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arena.report.model import Report
from arena.text.identifiers import normal_title


class ReportGold(NamedTuple):
    """The labels that a report is scored against.

    Attributes:
        gains: Id of each reference of the survey in reach -> 2 if it is influential, else 1.
        standing: Id of each paper that exists -> ``"reachable"``, or why no report may cite it:
            ``"itself"`` (the survey), ``"late"`` (dated on or after the cutoff), ``"undated"``,
            or ``"survey"`` (another survey); the first of these that applies. The ids that the
            report cites are enough.
    """

    gains: Mapping[str, int]
    standing: Mapping[str, str]


def cited_works(report: Report) -> dict[str, str | None]:
    """Return the distinct works that statements cite, in order of their first citation.

    Returns:
        A name of the work -> id of its paper in the corpus, or None while it is unresolved.
        References of one paper are one work, and so are unresolved ones with one identifier, or
        else one title.
    """
    works = {}
    for reference in report.cited:
        name = reference.paper or next(iter(reference.ids), "") or normal_title(reference.title)
        works[name or reference.key] = reference.paper
    return works
