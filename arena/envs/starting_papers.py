"""The papers that an episode starts with: the survey's own references, or the papers of a run."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena import trec
from arena.errors import DataError, clip, did_you_mean

if TYPE_CHECKING:
    from arena.corpus import Corpus
    from arena.corpus.view import CorpusView
    from arena.tasks import TaskSet

REFERENCES = ("oracle", "found")
"""Values of the argument `references`."""

_MAX_LISTED = 1_000


class StartingPapers(ABC):
    """Says which papers an episode starts with."""

    @abstractmethod
    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return ids of papers that exist in `view`, in the order in which they are listed."""

    def check(self, tasks: TaskSet) -> None:  # noqa: B027 - most have nothing to check
        """Raise DataError if these papers belong to no survey of `tasks`."""


class OwnReferences(StartingPapers):
    """The references of the survey in document order, which reveals nothing but their dates."""

    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return the references in reach."""
        gains = tasks.gold(survey_id).gains
        return [paper_id for paper_id in gains if paper_id in view][:_MAX_LISTED]


class RankedPapers(StartingPapers):
    """The papers that a run ranked for each survey, best first; none for a survey it left out.

    Args:
        rankings: Survey id -> paper ids.
    """

    def __init__(self, rankings: Mapping[str, Sequence[str]]) -> None:
        self._rankings = {survey_id: tuple(papers) for survey_id, papers in rankings.items()}

    def check(self, tasks: TaskSet) -> None:
        """Raise DataError for a run of other surveys: every episode would start with nothing."""
        if self._rankings and not self._rankings.keys() & tasks.surveys.keys():
            first = next(iter(self._rankings))
            raise DataError(
                f"found names {clip(first)} and no survey of this corpus."
                f"{did_you_mean(first, tasks.surveys)} Give a run on this corpus."
            )

    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return the visible papers of the ranking."""
        ranking = dict.fromkeys(self._rankings.get(survey_id, ()))
        return [paper_id for paper_id in ranking if paper_id in view][:_MAX_LISTED]


def starting_papers(
    references: str, found: Mapping[str, Sequence[str]] | str | Path | None, corpus: Corpus
) -> StartingPapers | None:
    """Return what the environment's arguments `references` and `found` stand for.

    Args:
        references: ``"oracle"`` for the survey's own references, ``"found"`` for those of a run.
        found: A run (``run.trec`` or the directory of a run), or survey id -> paper ids. None
            with ``"found"`` starts episodes without papers.
        corpus: Corpus of the environment.

    Raises:
        DataError: `references` is unknown, `found` is neither a run nor a mapping to lists of
            ids, or it contradicts `references`.
    """
    if references not in REFERENCES:
        raise DataError(f"references={clip(references)}.{did_you_mean(references, REFERENCES)}")
    if found is None:
        return OwnReferences() if references == "oracle" else None
    if references == "oracle":
        raise DataError("found=... goes with references='found', not with 'oracle'.")
    if isinstance(found, Mapping):
        for survey_id, papers in found.items():
            if not isinstance(papers, list | tuple) or not all(isinstance(p, str) for p in papers):
                raise DataError(f"found[{clip(survey_id)}]={clip(papers)}: give a list of ids.")
        return RankedPapers(found)
    if not isinstance(found, str | Path):
        raise DataError(f"found={clip(found)}: give a run, or a mapping of surveys to papers.")
    path = Path(found)
    _refuse_other_corpus(path if path.is_dir() else path.parent, corpus)
    run = trec.read_run(path / "run.trec" if path.is_dir() else path)
    number = corpus.document_number
    return RankedPapers({survey: trec.order(scores, number) for survey, scores in run.items()})


def _refuse_other_corpus(directory: Path, corpus: Corpus) -> None:
    """Raise DataError for a run of ours over another corpus, whose surveys may share ids."""
    try:
        sha256 = json.loads((directory / "manifest.json").read_bytes())["sha256"]["corpus"]
    except (OSError, ValueError, LookupError, TypeError):
        return  # a run of another system does not name its corpus
    if sha256 != corpus.sha256:
        raise DataError(
            f"found={clip(str(directory))} is a run over corpus {clip(sha256)}, this is "
            f"{corpus.sha256!r}. Give a run over this corpus."
        )
