"""The papers that an episode begins with: the survey's own references, or those found before."""

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
_SHOWN = 1_000


class Given(ABC):
    """Says which papers an episode begins with."""

    @abstractmethod
    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return ids of papers that exist in the view."""

    @abstractmethod
    def check(self, tasks: TaskSet) -> None:
        """Raise `DataError` if it does not go with these surveys."""


class OwnReferences(Given):
    """The references of the survey in document order, which tells nothing but their dates."""

    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return the references in reach."""
        return [paper_id for paper_id in tasks.gold(survey_id).gains if paper_id in view][:_SHOWN]

    def check(self, tasks: TaskSet) -> None:
        """Every survey has its own."""


class Found(Given):
    """What a run found for each survey, best first; a survey that it left out begins with none."""

    def __init__(self, rankings: Mapping[str, Sequence[str]]) -> None:
        self._rankings = {survey_id: tuple(papers) for survey_id, papers in rankings.items()}

    def check(self, tasks: TaskSet) -> None:
        """Refuse a run of other surveys, with which every episode would begin with nothing."""
        if self._rankings and not self._rankings.keys() & tasks.surveys.keys():
            first = next(iter(self._rankings))
            raise DataError(
                f"found names {clip(first)} and no survey of this corpus."
                f"{did_you_mean(first, tasks.surveys)} Give a run on this corpus."
            )

    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return the visible papers of the ranking."""
        ranking = dict.fromkeys(self._rankings.get(survey_id, ()))
        return [paper_id for paper_id in ranking if paper_id in view][:_SHOWN]


def given(
    references: str, found: Mapping[str, Sequence[str]] | str | Path | None, corpus: Corpus
) -> Given | None:
    """Return what the arguments of `OrganizationEnv` stand for.

    Raises:
        DataError: if `references` is unknown, `found` is no run or no mapping to lists of ids, or
            it contradicts `references`.
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
        return Found(found)
    if not isinstance(found, str | Path):
        raise DataError(f"found={clip(found)}: give a run, or a mapping of surveys to papers.")
    path = Path(found)
    _check_corpus(path if path.is_dir() else path.parent, corpus)
    run = trec.read_run(path / "run.trec" if path.is_dir() else path)
    number = corpus.document_number
    return Found({survey_id: trec.order(scored, number) for survey_id, scored in run.items()})


def _check_corpus(directory: Path, corpus: Corpus) -> None:
    """Refuse a run of ours over another corpus, whose surveys may have the same ids."""
    try:
        made_on = json.loads((directory / "manifest.json").read_bytes())["sha256"]["corpus"]
    except (OSError, ValueError, LookupError, TypeError):
        return  # a run of another system says nothing of its corpus
    if made_on != corpus.sha256:
        raise DataError(
            f"found={clip(str(directory))} is a run over corpus {clip(made_on)}, this is "
            f"{corpus.sha256!r}. Give a run over this corpus."
        )
