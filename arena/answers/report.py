"""A report that cites papers, submitted with ``submit_report``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.answers.base import AnswerKind, answer, file_name, write_rows
from arena.answers.ranking import Ranking, ideal_ranking
from arena.kit.files import atomic_write
from arena.papers import MAX_SUBMITTED

if TYPE_CHECKING:
    from arena.metrics import ScoreContext

_CITED = "cited by the topic"
_STANDING = {
    "reachable": "not cited by the topic", "itself": "the survey itself",
    "late": "not before the survey", "undated": "without a date", "survey": "another survey",
    "unknown": "not in the corpus",
}  # fmt: skip


@answer("report")
class Report(Ranking):
    """Markdown that cites papers by id; its ranking is the cited papers in order of first citation.

    Only the sections written with ``write`` are submitted without a call.
    """

    tool, argument, tools = "submit_report", "text", ("write",)
    scored, noun = ("report", "survey"), "report"
    writes = True
    files = ("run.trec", "run.*.trec", "reports.jsonl", "reports/*.md")

    def readers(self) -> list[type]:
        """Return the reader of reports."""
        from arena.report.readers import report_reader_in_use

        return [type(report_reader_in_use())]

    def fits(self, value: Any) -> bool:
        """Return whether a value is a text."""
        return isinstance(value, str)

    def implicit_answer(self, episode: Any, finished: bool) -> tuple[str, int] | None:  # type: ignore[override]
        """Return the draft, if there is one, and the number of its sections."""
        return (episode.draft.markdown(), len(episode.draft)) if episode.draft else None

    def papers(self, answer: str | None) -> list[str]:  # type: ignore[override]
        """Return the ids that a report cites, in order of first citation."""
        from arena.report import cited_ids

        return cited_ids(answer or "")[:MAX_SUBMITTED]

    def panel(self, answer: str, tasks: Any, topic_id: str) -> dict[str, Any]:
        """Return the text, and of each cited paper ``+`` or ``!`` and what it is to the topic."""
        cited, papers = dict[str, tuple[str, str]](), self.papers(answer)
        if tasks is not None:
            gains, standing = tasks.gold(topic_id).gains, tasks.citation_status(topic_id, papers)
            for paper in papers:
                found = standing.get(paper, "unknown")
                words = _CITED if paper in gains else _STANDING[found]
                cited[paper] = ("" if found == "reachable" else "!", words)
                cited[paper] = ("+", words) if paper in gains else cited[paper]
        return {"form": "text", "value": answer, "cited": cited}

    def tally(self, answer: Any, tasks: Any, topic_id: str) -> list[tuple[str, int, int]]:
        """Return what the cited papers are to the topic, and how many references are cited."""
        cited = Counter(words for _, words in self.panel(answer, tasks, topic_id)["cited"].values())
        kinds = (_CITED, *_STANDING.values())
        rows = [(f"cited papers: {words}", cited[words], cited.total()) for words in kinds]
        gains, papers = tasks.gold(topic_id).gains, {*self.papers(answer)}
        for name, known in (
            ("influential references in reach: cited", [p for p in gains if gains[p] > 1]),
            ("references in reach: cited", [*gains]),
        ):
            rows.append((name, len(papers.intersection(known)), len(known)))
        return rows

    def remark(self, answer: str, tasks: Any, topic_id: str) -> str:
        """Return how many entries of its list were found, if that is the minority."""
        from arena.metrics import ScoreContext
        from arena.report import unfound

        report, _ = self.compare(answer, "report", ScoreContext(tasks=tasks, topic_id=topic_id))
        return unfound(report)

    def compare(self, answer: Any, kind: str, context: ScoreContext) -> tuple[Any, Any]:
        """Return the report, in which ids that are no papers stay unresolved, and its gold.

        Other forms of citations are text: an agent cites by id, and a quoted abstract may cite,
        too.
        """
        from arena.report import read_report
        from arena.report.metrics import ReportGold

        gains = context.tasks.gold(context.topic_id).gains
        report = read_report(answer or "", ["pandoc"])
        papers = [each.key for each in report.references]
        standing = context.tasks.citation_status(context.topic_id, papers)
        references = (
            each._replace(paper=each.key if each.key in standing else None)
            for each in report.references
        )
        return report._replace(references=tuple(references)), ReportGold(gains, standing)

    def ideal(self, tasks: Any, topic_id: str) -> str:
        """Return the survey's own text, if the corpus has it, with its citations in reach alone.

        Then it has a sentence for each reference in reach that is not cited so far.
        """
        from arena.report import cited_ids
        from arena.report.listing import cite

        text = tasks.text_in_reach(topic_id)
        cited = set(cited_ids(text))
        left = [paper for paper in ideal_ranking(tasks.gold(topic_id).gains) if paper not in cited]
        return "\n\n".join([text, *(f"The survey cites {cite([p])}." for p in left)]).lstrip()

    read_file = AnswerKind.read_file  # a report is more than its ranking

    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        """Write the cited papers as a run of TREC, and each report."""
        names = [*super().write(output, stage, answers, tag, tasks), "reports.jsonl"]
        write_rows(output / "reports.jsonl", "report", answers)
        (output / "reports").mkdir(exist_ok=True)
        for topic_id, text in answers.items():
            names.append(f"reports/{file_name(topic_id)}.md")
            atomic_write(output / names[-1], text.encode())
        return names
