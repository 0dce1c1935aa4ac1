"""The stage ``mind-maps``: what trees the surveys of the tasks draw (paper, section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from corpus_builder.asking import ask_records
from corpus_builder.figures import fingerprint
from corpus_builder.figures.extraction import BATCH, Extraction, Outcome
from corpus_builder.files import read_rows, schema
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.references import REFERENCES, TASKS

MAPS = "mind_maps.parquet"
"""One row a survey task with a mind-map, ordered by survey: ``survey, mind_map`` (JSON text),
``figure`` (its file) and ``caption``."""

REJECTS = "rejects.jsonl"
"""The outcomes that gave no mind-map, ordered by survey: ``survey, step, reason, detail``."""

_MAPS_SCHEMA = schema("survey mind_map figure caption")


def _map_inputs(plan: Plan) -> Any:
    """Return the figures and the options."""
    config = plan.config.mind_maps
    if config.figures is None:
        return None
    return [fingerprint(config.figures), Extraction(config.figures, config.options).config]


def _extract_maps(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write `MAPS` and `REJECTS` of the tasks; both are empty without figures."""
    figures = plan.config.mind_maps.figures
    surveys = list(read_rows(plan.stage(REFERENCES.name) / TASKS, ("id", "title")))
    with_figures = picked = made = 0
    reasons: Counter[str] = Counter()
    outcomes: Iterable[tuple[Any, Outcome]] = ()
    if figures is not None:
        ask = Extraction(figures, plan.config.mind_maps.options).outcomes
        outcomes = ask_records(surveys, ask, BATCH, total=len(surveys), desc="mind-maps")
    with steps.outputs(MAPS, _MAPS_SCHEMA, REJECTS) as (add_map, add_reject):
        for _, outcome in outcomes:
            with_figures += outcome.folder
            picked += outcome.figure is not None
            if outcome.mind_map is not None:
                made += 1
                add_map((outcome.survey, outcome.mind_map, outcome.figure, outcome.caption))
            for flaw in outcome.flaws:
                reasons[f"{flaw.step}: {flaw.reason}"] += 1
                add_reject({"survey": outcome.survey, **flaw._asdict()})
    return {
        "figures": figures is not None,
        "surveys": len(surveys),
        "surveys_with_figures": with_figures,
        "picked": picked,
        "mind_maps": made,
        "rejected": dict(sorted(reasons.items())),
    }


MIND_MAPS = Stage("mind-maps", _map_inputs, _extract_maps)
