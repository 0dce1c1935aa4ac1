"""The papers that an episode starts with: the survey's own references, or the papers of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import trec
from arena.errors import DataError, clip, did_you_mean

if TYPE_CHECKING:
    from arena.corpus import Corpus
    from arena.corpus.view import CorpusView
    from arena.tasks import TaskSet

REFERENCES = ("oracle", "found")
"""Values of the argument `references`."""

_MAX_LISTED = 1_000


class StartingPapers(NamedTuple):
    """Says which papers an episode starts with.

    Attributes:
        rankings: Survey id -> paper ids, best first; a survey that is left out starts with none.
            None stands for the survey's own references in document order, which reveals nothing
            but their dates.
    """

    rankings: Mapping[str, Sequence[str]] | None

    def papers(self, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        """Return ids of papers that exist in `view`, in the order in which they are listed."""
        if self.rankings is None:
            papers: Iterable[str] = tasks.gold(survey_id).gains
        else:
            papers = dict.fromkeys(self.rankings.get(survey_id, ()))
        return [paper_id for paper_id in papers if paper_id in view][:_MAX_LISTED]

    def check(self, tasks: TaskSet) -> None:
        """Raise DataError for a run of other surveys: every episode would start with nothing."""
        if self.rankings and not self.rankings.keys() & tasks.surveys.keys():
            first = next(iter(self.rankings))
            raise DataError(
                f"found names {clip(first)} and no survey of this corpus."
                f"{did_you_mean(first, tasks.surveys)} Give a run on this corpus."
            )


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
        return StartingPapers(None) if references == "oracle" else None
    if references == "oracle":
        raise DataError("found=... goes with references='found', not with 'oracle'.")
    if isinstance(found, Mapping):
        for survey_id, papers in found.items():
            if not isinstance(papers, list | tuple) or not all(isinstance(p, str) for p in papers):
                raise DataError(f"found[{clip(survey_id)}]={clip(papers)}: give a list of ids.")
        return StartingPapers({survey_id: tuple(papers) for survey_id, papers in found.items()})
    if not isinstance(found, str | Path):
        raise DataError(f"found={clip(found)}: give a run, or a mapping of surveys to papers.")
    path = Path(found)
    _refuse_other_corpus(path if path.is_dir() else path.parent, corpus)
    run = trec.read_run(path / "run.trec" if path.is_dir() else path)
    number = corpus.document_number
    return StartingPapers({survey: trec.order(scores, number) for survey, scores in run.items()})


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
