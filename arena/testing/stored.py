"""Checks of the stored files: the rules of the format that all views rely on."""

from __future__ import annotations

import calendar
from collections import Counter

from arena.testing.files import NEVER, Facts
from arena.testing.report import Report


def check_files(facts: Facts, log: Report) -> None:
    """Check that the rows of all files agree with each other."""
    _dates(facts, log)
    _order(facts, log)
    _surveys(facts, log)
    _links(facts, log)
    _gold(facts, log)


def last_day(date: str, precision: str | None) -> str | None:
    """Return the last day that a date of this precision can mean; None for an unknown precision."""
    year, month = int(date[:4]), int(date[5:7])
    if precision == "year":
        return f"{date[:4]}-12-31"
    if precision == "month":
        return f"{date[:7]}-{calendar.monthrange(year, month)[1]:02d}"
    return date if precision == "day" else None


def _dates(facts: Facts, log: Report) -> None:
    where = "papers.parquet"
    for paper in facts.papers:
        if paper.date is None:
            if paper.precision is not None:
                log.add("stored dates", where, "", f"{paper.id!r} has a precision and no date")
        elif paper.date != (expected := last_day(paper.date, paper.precision)):
            what = f"{paper.id!r} is dated {paper.date} by {paper.precision!r}, not {expected}"
            log.add("stored dates", where, "", what)
    for survey in facts.surveys.values():
        if survey.date != (expected := last_day(survey.date, survey.precision)):
            what = f"{survey.id!r} is dated {survey.date} by {survey.precision!r}, not {expected}"
            log.add("stored dates", "tasks/surveys.parquet", "", what)
    log.counts["dates derived again"] += len(facts.papers) + len(facts.surveys)


def _order(facts: Facts, log: Report) -> None:
    keys = [(paper.day, paper.id.encode("utf-8", "surrogatepass")) for paper in facts.papers]
    for number in range(1, len(keys)):
        if keys[number - 1] >= keys[number]:
            what = f"row {number}, {facts.papers[number].id!r}, comes after a later or equal one"
            log.add("stored order", "papers.parquet", "", what)


def _surveys(facts: Facts, log: Report) -> None:
    where = "papers.parquet"
    for paper in facts.papers:
        flagged, searchable = paper.flagged, paper.searchable
        if paper.survey and not flagged:
            log.add("stored surveys", where, "", f"{paper.id!r} is a survey task and not flagged")
        if searchable != (paper.day != NEVER and not flagged):
            log.add("stored surveys", where, "", f"{paper.id!r} has searchable={searchable}")
        if paper.survey and (paper.abstract or paper.number in facts.sections):
            log.add("stored surveys", where, "", f"the survey {paper.id!r} has a text")


def _links(facts: Facts, log: Report) -> None:
    linkable = (facts.days < NEVER) & ~facts.survey
    for link, times in Counter(facts.links).items():
        inside = all(0 <= end < len(linkable) for end in link)
        if not inside or not all(linkable[list(link)]) or link[0] == link[1] or times > 1:
            log.add("stored links", "references.parquet", "", f"{link} stands {times} times")
    for number in facts.sections:
        if not 0 <= number < len(linkable):
            log.add("stored links", "sections.parquet", "", f"there is no document {number}")
    log.counts["links derived again"] += len(facts.links)


def _gold(facts: Facts, log: Report) -> None:
    where = "tasks/gold.parquet"
    for survey in facts.surveys.values():
        for reference in survey.references:
            paper = facts.by_id.get(reference.id)
            status = "gold"
            if paper is None:
                status = "unknown"
            elif paper.day == NEVER:
                status = "undated"
            elif paper.survey:
                status = "survey"
            elif paper.day >= survey.day:
                status = "not_before"
            number = None if paper is None else paper.number
            if (reference.status, reference.document) != (status, number):
                what = (
                    f"{reference.id!r} of {survey.id!r} is document {reference.document}, "
                    f"{reference.status!r}, and should be {number}, {status!r}"
                )
                log.add("stored gold", where, "", what)
        log.counts["labels derived again"] += len(survey.references)
