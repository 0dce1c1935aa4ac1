"""Review: find everything, and know when to stop; `finish` says which recall is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Interval

from arena.answers import AnswerKind, answer, write_rows
from arena.answers.ranking import Ranking, ideal_ranking
from arena.metrics import ScoreContext, metric
from arena.tasks import Task, task

if TYPE_CHECKING:
    from arena.tools import Episode, Tool


@answer("review")
class Review(Ranking):
    """The papers selected, the recall believed, and the calls: searches and reads until the end.

    An answer is ``{"paper_ids": [...], "recall": number or None, "calls": integer}``. An episode
    that its budget ends submits what was selected, without a belief.
    """

    tool, argument, noun = "finish", "recall", "review"
    scored = ("review",)
    files = ("run.trec", "run.*.trec", "reviews.jsonl")

    def fits(self, value: Any) -> bool:
        """Return whether a value has the form of an answer."""
        if not isinstance(value, dict) or value.keys() != {"paper_ids", "recall", "calls"}:
            return False
        recall, calls = value["recall"], value["calls"]
        believed = recall is None or (type(recall) in (int, float) and 0 <= recall <= 1)
        return super().fits(value["paper_ids"]) and believed and type(calls) is int and calls >= 0

    def submission(self, answer: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of `select`, if there are papers, and of `finish`."""
        selected = [("select", {"paper_ids": answer["paper_ids"]})] * bool(answer["paper_ids"])
        return [*selected, ("finish", {"recall": answer["recall"]})]

    def implicit_answer(self, episode: Any, finished: bool) -> Any:
        """Return what was selected, if anything was."""
        return (_made(episode, None), len(episode.selected)) if episode.selected else None

    def papers(self, answer: Mapping[str, Any] | None) -> list[str]:  # type: ignore[override]
        """Return the papers in the order in which they were selected; none for None."""
        return list(answer["paper_ids"]) if answer else []

    def compare(
        self, answer: Any, kind: str, context: ScoreContext
    ) -> tuple[Mapping[str, Any] | None, Mapping[str, int]]:
        """Return the answer and the gold papers."""
        return answer, context.tasks.gold(context.topic_id).gains

    def ideal(self, tasks: Any, topic_id: str) -> dict[str, Any]:
        """Return the references in reach, and the recall that they have."""
        gains = tasks.gold(topic_id).gains
        papers = ideal_ranking(gains)
        recall = len(papers) / len(gains) if gains else None
        return {"paper_ids": papers, "recall": recall, "calls": 0}

    read_file = AnswerKind.read_file  # a review is more than its papers

    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        """Write the papers as a run of TREC, and the answers as they are."""
        write_rows(output / "reviews.jsonl", "review", answers)
        return [*super().write(output, stage, answers, tag, tasks), "reviews.jsonl"]


def _made(episode: Episode, recall: float | None) -> Any:
    calls = episode.spent["searches"] + episode.spent["reads"]
    return {"paper_ids": list(episode.selected), "recall": recall, "calls": calls}


def finish(
    episode: Episode, recall: Annotated[float, Interval(ge=0, le=1)] | None = None
) -> dict[str, Any]:
    """End the review. The selected papers are submitted.

    Args:
        episode: the running episode.
        recall: the share of all wanted papers that you believe to have selected, from 0 to 1.
    """
    return {"submitted": len(episode.selected)} | episode.submit("review", _made(episode, recall))


@metric("calibration", "review", lower_is_better=True)
def calibration(
    answer: Mapping[str, Any] | None, gold: Mapping[str, int], context: ScoreContext
) -> float | None:
    """Squared difference of the believed and the true recall (Brier 1950), from 0 to 1.

    None without a belief.
    """
    if answer is None or answer["recall"] is None:
        return None
    recall = len(gold.keys() & set(answer["paper_ids"])) / len(gold)
    return float((answer["recall"] - recall) ** 2)


@metric("calls", "review", lower_is_better=True)
def calls(
    answer: Mapping[str, Any] | None, gold: Mapping[str, int], context: ScoreContext
) -> float | None:
    """Searches and reads until the end, the cost of a review; None if nothing was submitted."""
    return None if answer is None else float(answer["calls"])


@task("review")
class ReviewTask(Task):
    """Find all papers of a review, and stop with the recall believed to be reached."""

    instruction = (
        "Find all papers that a review of this topic must include. Only papers from before the"
        " cutoff exist. Search and read, and select what belongs to it as you go. Stop when more"
        " searches would add too little: finish, and say which recall you believe to have reached."
    )
    metrics = ("recall", "precision", "calibration", "calls")
    # A review is for what it includes: who stops at once is cheap and, believing 0, calibrated.
    headline = "recall"
    answer = "review"
    reward = "final"

    def offered(self, references: str | None = None, more: Sequence[str] = ()) -> list[Tool]:
        """Return the usual tools, with a `finish` that takes the belief."""
        from arena.tools import Tool

        usual, own = super().offered(references, more), Tool.from_function(finish)
        return [own if tool.name == own.name else tool for tool in usual]
