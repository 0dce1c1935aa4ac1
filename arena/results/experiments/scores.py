"""What the finished runs of an experiment scored and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena._internal.files import sha256_json
from arena._internal.terminal import progress
from arena.corpus import Corpus
from arena.errors import DataError
from arena.metrics import METRICS
from arena.mindmap.extractors import make_extractor
from arena.results.comparison.opening import open_runs, read_compared_run
from arena.results.experiments.config import Experiment
from arena.results.experiments.grid import JUDGED, Cell, reported_metrics
from arena.runs import rescore
from arena.tasks import TaskSet, stages_of

if TYPE_CHECKING:
    from arena.judging import StatementJudgements


def judge_runs(
    experiment: Experiment, finished: Mapping[str, Cell], corpus: Corpus, output: Path
) -> dict[str, StatementJudgements]:
    """Let the configuration's judge read the reports of the runs in whose tables it has a column.

    An answer that is in the judge's store is not asked for again.
    """
    tasks = {
        table.task
        for table in experiment.tables.values()
        if any(metric.startswith(JUDGED) for metric in table.metrics.values())
    }
    runs = [key for key, cell in finished.items() if cell.config.task in tasks]
    if not experiment.judge or not runs:
        return {}
    from arena.judging import record_statements

    return {
        key: record_statements(output / key, corpus, experiment.judge, "--judge-option")
        for key in progress(runs, desc="judge", unit="run")
    }


def score_runs(
    experiment: Experiment,
    finished: Mapping[str, Cell],
    judged: Mapping[str, StatementJudgements],
    corpus: Corpus,
    output: Path,
) -> dict[str, dict[str, Any]]:
    """Score the runs of tables by the metrics of all tables of their task.

    A metric whose packages are not installed is left out.

    Returns:
        Directory -> ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in
        `arena.rescore`, ``parts`` (if a table is split: ``domain`` or ``prompt`` -> part -> metric
        -> mean, and ``surveys``), ``dates_guessed`` (surveys, if there are any), ``sha256`` of what
        the run was made from, of its ``answers`` and ``manifest``, ``effort`` (see
        `arena.results.comparison`), the number of episodes with ``nothing`` submitted at some stage
        and that were ``stopped`` by a model, and of judged reports ``judge``.
    """
    metrics: dict[str, dict[str, None]] = {}
    for name, reported in reported_metrics(experiment).items():
        names = metrics.setdefault(experiment.tables[name].task, {})
        for metric in reported.values():
            if not metric.startswith(JUDGED) and _is_possible(metric, experiment):
                names[metric] = None
    kinds = sorted({table.by for table in experiment.tables.values() if table.by})
    scores = {
        key: _score(experiment, output / key, corpus, [*metrics[cell.config.task]], kinds)
        for key, cell in finished.items()
        if cell.config.task in metrics
    }
    for key, found in judged.items():
        scores[key]["mean"] |= {f"{JUDGED}{name}": value for name, value in found.mean.items()}
        scores[key]["judge"] = {**found.judge, "counts": found.counts}
    return scores


def _is_possible(metric: str, experiment: Experiment) -> bool:
    """Return whether the packages that a metric needs are installed."""
    if "extractor" in METRICS.get(metric.rpartition(".")[2]).needs:
        try:
            make_extractor(experiment.extractor, {})
        except DataError:
            return False
    return True


def _score(
    experiment: Experiment,
    directory: Path,
    corpus: Corpus,
    metrics: Sequence[str],
    kinds: Sequence[str],
) -> dict[str, Any]:
    """Return the scores of a run; see `score_runs`."""
    names = list(dict.fromkeys(name.partition(".")[2] or name for name in metrics))
    scores = rescore(directory, corpus, names, experiment.encoder, experiment.extractor)
    rows, tasks = scores["per_survey"], TaskSet(corpus)
    ((name, opened),) = open_runs([directory]).items()
    run, hashes = read_compared_run(name, *opened, lambda: None), opened[0].manifest["sha256"]
    parts = {kind: _means_by(kind, tasks, rows, metrics) for kind in kinds}
    notes = [record["notes"].get("llm") for record in opened[0].episodes()]
    return {
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "counts": scores["counts"],
        **({"parts": parts} if parts else {}),
        **({"dates_guessed": guessed} if (guessed := scores.get("dates_guessed")) else {}),
        "sha256": hashes
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(run.manifest)},
        "effort": asdict(run.effort),
        "nothing": sum(
            any(not entry["submitted"].get(stage) for stage, _ in stages_of(run.manifest["task"]))
            for entry in rows.values()
        ),
        "stopped": sum(isinstance(n, dict) and n.get("stopped") is not None for n in notes),
    }


def _means_by(
    kind: str, tasks: TaskSet, per_survey: Mapping[str, Any], metrics: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return the means over the scored surveys of each domain, or prompt level, in its order."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for name, row in per_survey.items():
        survey = tasks.survey(name)
        part = survey.domain if kind == "domain" else next(reversed([*survey.prompts]), "")
        if row["gold"]:
            parts.setdefault(part or "(none)", []).append(row)
    means: dict[str, dict[str, float | None]] = {}
    for part, rows in sorted(parts.items()):
        means[part] = {"surveys": len(rows)}
        for metric in metrics:
            known = [row[metric] for row in rows if row[metric] is not None]
            means[part][metric] = math.fsum(known) / len(known) if known else None
    return means
