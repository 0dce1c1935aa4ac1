"""Screening: put all candidates of a systematic review into the order in which to read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from arena.answers import answer
from arena.answers.ranking import Ranking
from arena.tasks import Task, task

if TYPE_CHECKING:
    from arena.tools import Episode, Tool


@answer("screening")
class Screening(Ranking):
    """A ranking of any length, submitted in pieces: by `select`, and the last by `submit`."""

    depth: ClassVar[int | None] = None

    def implicit_answer(self, episode: Any, finished: bool) -> tuple[list[str], int] | None:
        """Return what was selected, also where the budget ended the episode."""
        return (list(episode.selected), len(episode.selected)) if episode.selected else None


def select(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Put papers at the end of the ranking. Nothing ends.

    Args:
        episode: the running episode.
        paper_ids: ids that searches returned, best first; at most 1,000 in one call.
    """
    episode.selected = episode.selected | dict.fromkeys(episode.papers(paper_ids))
    return {"selected": len(episode.selected)}


def submit(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Put papers at the end of the ranking, behind those selected, and submit it.

    Args:
        episode: the running episode.
        paper_ids: ids that searches returned, best first; at most 1,000 in one call.
    """
    select(episode, paper_ids)
    ranking = list(episode.selected)
    return {"submitted": len(ranking)} | episode.submit("screening", ranking)


@task("screening")
class ScreeningTask(Task):
    """Put the candidates of a systematic review into an order, those to include first."""

    instruction = (
        "Find all papers that a systematic review with this title and these criteria must"
        " include. Only papers from before the cutoff exist. Rank as many papers as you can, in the"
        " order in which one should read them: select them in pieces, and submit the last piece."
    )
    metrics = ("wss95", "recall_tenth", "atd", "recall@100")
    headline = "wss95"
    answer = "screening"

    def offered(self, references: str | None = None, more: Sequence[str] = ()) -> list[Tool]:
        """Return the usual tools, with a `select` and a `submit` of rankings of any length."""
        from arena.tools import Tool

        own = {each.__name__: Tool.from_function(each) for each in (select, submit)}
        return [own.get(tool.name, tool) for tool in super().offered(references, more)]
