"""What papers and surveys are called, where a corpus is at hand."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from arena.corpus import Corpus
from arena.errors import CorpusError
from arena.results.comparison.model import Comparison
from arena.tasks import TaskSet


class Titled(NamedTuple):
    """A paper or survey; title and date are empty where they are not known."""

    id: str
    title: str
    date: str


class Papers:
    """Looks up titles and dates; without a corpus there are ids alone.

    Args:
        comparison: whose corpus it must be.
        corpus: a built corpus, its directory, or None.

    Raises:
        CorpusError: if it is another corpus than that of the runs.
    """

    def __init__(self, comparison: Comparison, corpus: Corpus | str | Path | None) -> None:
        self._corpus = None if corpus is None else Corpus.of(corpus)
        if self._corpus is None:
            return
        self._tasks = TaskSet(self._corpus.directory)
        then = comparison.runs[0].manifest["sha256"]
        if (then.get("corpus"), then.get("tasks")) != (self._corpus.sha256, self._tasks.sha256):
            raise CorpusError(
                f"{str(self._corpus.directory)!r} is not the corpus of these runs. Name the "
                "--corpus that they were run with."
            )

    def survey(self, survey_id: str) -> Titled:
        """Return a survey."""
        if self._corpus is None:
            return Titled(survey_id, "", "")
        found = self._tasks.survey(survey_id)
        return Titled(survey_id, found.title, found.date)

    def many(self, survey_id: str, paper_ids: list[str]) -> dict[str, Titled]:
        """Return papers, by id, as they are visible to who writes this survey."""
        found = {paper_id: Titled(paper_id, "", "") for paper_id in paper_ids}
        if self._corpus is None:
            return found
        view = self._corpus.at(self._tasks.survey(survey_id).date, exclude=[survey_id])
        visible = [paper_id for paper_id in found if paper_id in view]
        return found | {brief.id: Titled(*brief) for brief in view.briefs(visible)}
