"""A survey as metrics read it, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from arena.metrics import ScoreContext
from arena.report import Reference, Report, read_report
from arena.tasks import TaskSet

_OWN: WeakKeyDictionary[TaskSet, dict[str, Article]] = WeakKeyDictionary()


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
        body: The text as the released code reads it for citations; empty if it is `text`.
        entries: The entries of its list of references that go with `body`.
    """

    title: str
    text: str
    outline: tuple[Heading, ...]
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
    return Article(
        report.title,
        text,
        (
            *([Heading(0, report.title)] if report.title else []),
            *(Heading(section.level - top, section.heading) for section in headings),
        ),
        tuple(works),
        report,
    )


def articles_of(report: Report, context: ScoreContext) -> tuple[Article, Article]:
    """Return the survey of a context, and a report on it that was submitted as Markdown."""
    tasks, survey_id = context.tasks, context.topic_id
    own = _OWN.setdefault(tasks, {})
    if survey_id not in own:
        own[survey_id] = own_article(tasks, survey_id)
    return own[survey_id], _article(report, context.submitted or "", tasks, survey_id)


def own_article(tasks: TaskSet, survey_id: str) -> Article:
    """Return a survey as metrics compare it; what the corpus lacks of it is empty.

    Its bibliography is its references in reach: no report can cite others. Its outline is its
    table of contents, or else the headings of its text.
    """
    text, gains = tasks.text_in_reach(survey_id), tasks.gold(survey_id).gains
    report = read_report(text, ["pandoc"])
    listed = {each.key: each for each in report.references}
    listed |= {
        paper: Reference(paper, ids=(f"corpus:{paper}",)) for paper in gains if paper not in listed
    }
    references = tuple(each._replace(paper=each.key) for each in listed.values())
    title = report.title or tasks.topic(survey_id).text
    report = report._replace(title=title, references=references)
    article, contents = _article(report, text, tasks, survey_id), tasks.outline(survey_id)
    levels = contents.levels() if contents else ()
    outline = tuple(Heading(level, node.label) for level, node in levels)
    return article._replace(outline=outline or article.outline)


def _article(report: Report, text: str, tasks: TaskSet, survey_id: str) -> Article:
    facts = tasks.facts(survey_id, [each.paper for each in report.references if each.paper])
    return article_of(
        report, text, lambda each: Work(*facts[each.paper]) if each.paper in facts else None
    )
