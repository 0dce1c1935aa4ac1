"""Judge mind-maps beside the survey's own: pairs from anywhere, and those of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.corpus import Corpus
from arena.errors import DataError
from arena.judging.judge import Judgements, judge
from arena.judging.rubric import Rubric
from arena.judging.runs import open_finished
from arena.llm import Client

if TYPE_CHECKING:
    from arena.mindmap import MindMap


def judge_pairs(
    rubric: Rubric | str,
    pairs: Mapping[str, tuple[MindMap, MindMap | None]],
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model judge mind-maps beside those of experts; it reads headings, and no papers.

    `rubric` has the fields ``expert`` and ``generated``. `pairs` maps an id to the expert's map and
    the one to judge; None and a map without headings earn the lowest score. The rest is as in
    `judge`.
    """
    from arena.mindmap import MindMap, render

    items: dict[str, dict[str, str] | None] = {}
    for name, (expert, generated) in pairs.items():
        trees = {"expert": expert, "generated": generated or MindMap("")}
        texts = {side: str(render(tree, "markdown")) for side, tree in trees.items()}
        items[name] = texts if trees["generated"].size else None
    return judge(rubric, items, client, prompt)


def judge_run(
    rubric: Rubric | str,
    run: str | Path,
    corpus: Corpus | str | Path,
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model judge the mind-maps of a finished run beside the surveys' own; see `judge_pairs`.

    Surveys without a mind-map of their own are left out.

    Raises:
        CorpusError: The run is not finished or was changed, or the corpus is another one.
        DataError: The task submits no mind-map, or no survey has one of its own.
    """
    played = open_finished(run, corpus, "mind_map")
    pairs = {
        survey_id: (gold, answer)
        for survey_id, answer in played.answers.items()
        if (gold := played.tasks.mind_map(survey_id)) is not None
    }
    if not pairs:
        raise DataError(f"no survey of {str(run)!r} has a mind-map of its own to judge beside.")
    return replace(judge_pairs(rubric, pairs, client, prompt), sha256=played.sha256)
