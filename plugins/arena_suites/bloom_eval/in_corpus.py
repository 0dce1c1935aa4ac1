"""Reports of episodes and the surveys' own articles, as far as a corpus has them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from arena.metrics import ScoreContext
from arena.mindmap import MindMap
from arena.report import Reference, Report, read_report
from arena.tasks import TaskSet
from arena_suites.bloom_eval.article import Article, Heading, Work, article_of

_OWN: WeakKeyDictionary[TaskSet, dict[str, Article]] = WeakKeyDictionary()


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
    return article._replace(outline=tuple(_headings(contents))) if contents else article


def _headings(tree: MindMap, level: int = 0) -> list[Heading]:
    below = (line for child in tree.children for line in _headings(child, level + 1))
    return [Heading(level, tree.label), *below]


def _article(report: Report, text: str, tasks: TaskSet, survey_id: str) -> Article:
    facts = tasks.facts(survey_id, [each.paper for each in report.references if each.paper])
    return article_of(
        report, text, lambda each: Work(*facts[each.paper]) if each.paper in facts else None
    )
