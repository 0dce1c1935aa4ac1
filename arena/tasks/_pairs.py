"""Reports beside the surveys' own articles, for the suite Bloom-Eval; for scoring alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.report import Reference, Report, read_report
from arena.report.listing import cite
from arena.report.marks import replace_groups
from arena.suites.bloom_eval import Article, Heading, Pair, Tools, article_of

if TYPE_CHECKING:
    from arena.mindmap import MindMap
    from arena.tasks.task_set import TaskSet


def pair_of(report: Report, text: str, tasks: TaskSet, survey_id: str, tools: Tools) -> Pair:
    """Return a report, read from the Markdown `text`, beside the survey's own article."""
    generated = _article(report, text, tasks, survey_id)
    return Pair(tasks.own_article(survey_id), generated, tools)


def own_article(tasks: TaskSet, survey_id: str) -> Article:
    """Return a survey as metrics of surveys compare it; what the corpus lacks of it is empty.

    Its bibliography is its references in reach: no report can cite others. Its outline is its
    table of contents, or else the headings of its text.
    """
    text, gains = text_in_reach(tasks, survey_id), tasks.gold(survey_id).gains
    report = read_report(text, ["pandoc"])
    listed = {each.key: each for each in report.references}
    listed |= {
        paper: Reference(paper, ids=(f"corpus:{paper}",)) for paper in gains if paper not in listed
    }
    references = tuple(each._replace(paper=each.key) for each in listed.values())
    title = report.title or tasks.survey(survey_id).title
    report = report._replace(title=title, references=references)
    article, contents = _article(report, text, tasks, survey_id), tasks.outline(survey_id)
    return article._replace(outline=tuple(_headings(contents))) if contents else article


def text_in_reach(tasks: TaskSet, survey_id: str) -> str:
    """Return a survey's own text without its citations of papers out of reach; empty if unknown."""
    reached = tasks.gold(survey_id).gains
    article = tasks.article(survey_id) or ""
    return replace_groups(article, lambda keys: cite(key for key in keys if key in reached))


def _headings(tree: MindMap, level: int = 0) -> list[Heading]:
    below = (line for child in tree.children for line in _headings(child, level + 1))
    return [Heading(level, tree.label), *below]


def _article(report: Report, text: str, tasks: TaskSet, survey_id: str) -> Article:
    known = tasks.works(survey_id, [each.paper for each in report.references if each.paper])
    return article_of(report, text, lambda each: known.get(each.paper or ""))
