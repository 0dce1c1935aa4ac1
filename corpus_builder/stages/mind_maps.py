"""The stage ``mind-maps``: trees read from the figures of surveys (paper, section 3.3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from arena._internal.files import TEMPORARY_SUFFIX
from arena._internal.progress import progress
from corpus_builder._parquet import RowWriter
from corpus_builder.figures import Extraction, Outcome, fingerprint
from corpus_builder.figures.extraction import BATCH
from corpus_builder.stages._plan import Plan, Steps
from corpus_builder.stages.surveys import SURVEYS, surveys_of

MAPS = "mind_maps.parquet"
"""One row a survey with a mind-map, ordered by survey: ``survey, mind_map`` (JSON text)."""

REJECTS = "rejects.jsonl"
"""What gave no mind-map, ordered by survey: ``survey, step, reason, detail``."""

_SCHEMA = pa.schema([("survey", pa.string()), ("mind_map", pa.string())])


class MindMapsStage:
    """Selects a figure of each survey, and reads it into a tree."""

    name = "mind-maps"
    keeps: tuple[str, ...] = ()

    def inputs(self, plan: Plan) -> Any:
        """Return the figures and the options."""
        figures = plan.config.mind_maps.figures
        if figures is None:
            return None
        return [fingerprint(figures), _extraction(plan, figures).config]

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write `MAPS` and `REJECTS`; both are empty without figures.

        Raises:
            ArenaError: If a model could not be asked; its answers are kept in their store.
        """
        figures = plan.config.mind_maps.figures
        surveys = list(surveys_of(plan.stage(SURVEYS.name)))
        outcomes: Iterator[Outcome] = iter(())
        if figures is not None:
            extraction = _extraction(plan, figures)
            outcomes = (
                outcome
                for at in range(0, len(surveys), BATCH)
                for outcome in extraction.outcomes(surveys[at : at + BATCH])
            )
        counts = _write(outcomes, steps.directory, len(surveys))
        return {"figures": figures is not None, "surveys": len(surveys), **counts}


MIND_MAPS = MindMapsStage()


def _extraction(plan: Plan, figures: Path) -> Extraction:
    return Extraction(figures, plan.config.mind_maps.options)


def _write(outcomes: Iterator[Outcome], directory: Path, total: int) -> dict[str, Any]:
    with_figures = picked = made = 0
    reasons: Counter[str] = Counter()
    maps = directory / f".{MAPS}{TEMPORARY_SUFFIX}"
    rejects = directory / f".{REJECTS}{TEMPORARY_SUFFIX}"
    with (
        RowWriter(maps, _SCHEMA) as rows,
        rejects.open("w", encoding="ascii") as lines,
        progress(total=total, desc="mind-maps") as bar,
    ):
        for outcome in outcomes:
            with_figures += outcome.folder
            picked += outcome.figure is not None
            if outcome.mind_map is not None:
                made += 1
                rows.add((outcome.survey, outcome.mind_map))
            for flaw in outcome.flaws:
                reasons[f"{flaw.step}: {flaw.reason}"] += 1
                lines.write(json.dumps({"survey": outcome.survey, **flaw._asdict()}) + "\n")
            bar.update()
    rejects.rename(directory / REJECTS)
    maps.rename(directory / MAPS)
    return {
        "surveys_with_figures": with_figures,
        "picked": picked,
        "mind_maps": made,
        "rejected": dict(sorted(reasons.items())),
    }
