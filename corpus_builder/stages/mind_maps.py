"""The stage ``mind-maps``: trees read from the figures of surveys (paper, section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

from arena._internal.tables import progress
from corpus_builder.figures import Extraction, Outcome, fingerprint
from corpus_builder.figures.extraction import BATCH
from corpus_builder.files import schema
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.surveys import SURVEYS, surveys_of

MAPS = "mind_maps.parquet"
"""One row a survey with a mind-map, ordered by survey: ``survey, mind_map`` (JSON text)."""

REJECTS = "rejects.jsonl"
"""What gave no mind-map, ordered by survey: ``survey, step, reason, detail``."""

_SCHEMA = schema("survey mind_map")


def _inputs(plan: Plan) -> Any:
    """Return the figures and the options."""
    figures = plan.config.mind_maps.figures
    if figures is None:
        return None
    return [fingerprint(figures), Extraction(figures, plan.config.mind_maps.options).config]


def _run(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write `MAPS` and `REJECTS`; both are empty without figures.

    Raises:
        ArenaError: If a model could not be asked; its answers are kept in their store.
    """
    figures = plan.config.mind_maps.figures
    surveys = list(surveys_of(plan.stage(SURVEYS.name)))
    with_figures = picked = made = 0
    reasons: Counter[str] = Counter()
    outcomes: Iterable[Outcome] = ()
    if figures is not None:
        extraction = Extraction(figures, plan.config.mind_maps.options)
        batches = (surveys[at : at + BATCH] for at in range(0, len(surveys), BATCH))
        outcomes = chain.from_iterable(map(extraction.outcomes, batches))
    with (
        steps.outputs(MAPS, _SCHEMA, REJECTS) as (add_map, add_reject),
        progress(total=len(surveys), desc="mind-maps") as bar,
    ):
        for outcome in outcomes:
            with_figures += outcome.folder
            picked += outcome.figure is not None
            if outcome.mind_map is not None:
                made += 1
                add_map((outcome.survey, outcome.mind_map))
            for flaw in outcome.flaws:
                reasons[f"{flaw.step}: {flaw.reason}"] += 1
                add_reject({"survey": outcome.survey, **flaw._asdict()})
            bar.update()
    return {
        "figures": figures is not None,
        "surveys": len(surveys),
        "surveys_with_figures": with_figures,
        "picked": picked,
        "mind_maps": made,
        "rejected": dict(sorted(reasons.items())),
    }


MIND_MAPS = Stage("mind-maps", _inputs, _run)
