"""Scores of the finished runs of an experiment, as its tables and figures show them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena._internal.files import sha256_json
from arena.corpus import Corpus
from arena.errors import DataError
from arena.mindmap import needs
from arena.mindmap.extractors import make_extractor
from arena.results.comparison import usage_of
from arena.results.experiments.config import Experiment
from arena.results.experiments.grid import JUDGED, Cell
from arena.runs import rescore
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet, kind_of_metric, stages_of

if TYPE_CHECKING:
    from arena.judging import StatementJudgements

_LLM = ("calls", "prompt_tokens", "completion_tokens", "dollars")
_HASHES = ("corpus", "tasks", "index", "retrievers", "input", "prompts", "code", "environment")


def score_runs(
    experiment: Experiment,
    reported: Mapping[str, Mapping[str, str]],
    finished: Mapping[str, Cell],
    judged: Mapping[str, StatementJudgements],
    corpus: Corpus,
    output: Path,
) -> dict[str, dict[str, Any]]:
    """Score the runs of tables by the metrics of all tables of their task.

    A metric whose packages are not installed is left out.

    Args:
        experiment: The configuration.
        reported: Table -> heading -> the name by which `arena.rescore` reports the metric.
        finished: Directory -> run.
        judged: Directory -> what a judge says of the reports of a run.
        corpus: The corpus that they were played on.
        output: Directory of the experiment.

    Returns:
        Directory -> ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in
        `arena.rescore`, ``parts`` (if a table is split: ``domain`` or ``prompt`` -> part -> metric
        -> mean, and ``surveys``), ``dates_guessed`` (surveys, if there are any), ``sha256`` of what
        the run was made from and of its ``answers``, ``spent`` (sums over episodes), ``truncated``
        and ``nothing`` (episodes that the budget ended, and that submitted nothing at some stage),
        of an agent with a model ``llm``: calls, tokens, dollars (None where unknown), ``failed``
        steps and the number of episodes that were ``stopped``; and of judged reports ``judge``.
    """
    metrics: dict[str, dict[str, None]] = {}
    for name, table in experiment.tables.items():
        for metric in reported[name].values():
            names = metrics.setdefault(table.task, {})
            if not metric.startswith(JUDGED) and _is_possible(metric, experiment):
                names[metric] = None
    kinds = sorted({table.by for table in experiment.tables.values() if table.by})
    scores = {}
    for key, cell in finished.items():
        if cell.record["task"] in metrics:
            of_task = [*metrics[cell.record["task"]]]
            scores[key] = _score(experiment, OpenedRun(output / key), corpus, of_task, kinds)
    for key, found in judged.items():
        scores[key]["mean"] |= {f"{JUDGED}{name}": value for name, value in found.mean.items()}
        scores[key]["judge"] = {**found.judge, "counts": found.counts}
    return scores


def _is_possible(metric: str, experiment: Experiment) -> bool:
    """Return whether the packages that a metric needs are installed."""
    base = metric.rpartition(".")[2]
    if kind_of_metric(base) == "mind_map" and "extractor" in needs(base):
        try:
            make_extractor(experiment.extractor, {})
        except DataError:
            return False
    return True


def _score(
    experiment: Experiment,
    run: OpenedRun,
    corpus: Corpus,
    metrics: Sequence[str],
    kinds: Sequence[str],
) -> dict[str, Any]:
    """Return the scores of a run; see `score_runs`."""
    names = list(dict.fromkeys(name.partition(".")[2] or name for name in metrics))
    scores = rescore(run.directory, corpus, names, experiment.encoder, experiment.extractor)
    rows, tasks, hashes = scores["per_survey"], TaskSet(corpus), run.manifest["sha256"]
    episodes = list(run.episodes())
    spent: Counter[str] = Counter()
    for record in episodes:
        spent.update(record["spent"])
    parts = {kind: _means_by(kind, tasks, rows, metrics) for kind in kinds}
    llm = _usage([record["notes"] for record in episodes])
    return {
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "counts": scores["counts"],
        **({"parts": parts} if parts else {}),
        **({"dates_guessed": guessed} if (guessed := scores.get("dates_guessed")) else {}),
        "sha256": {key: hashes[key] for key in _HASHES if key in hashes}
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(run.manifest)},
        "spent": spent,
        "truncated": sum(record["truncated"] for record in episodes),
        "nothing": sum(
            any(not entry["submitted"].get(stage) for stage, _ in stages_of(run.task))
            for entry in rows.values()
        ),
        **({"llm": llm} if llm else {}),
    }


def _usage(notes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the sums of what language models did in episodes; None where none was asked."""
    asked = [(usage, each["llm"]) for each in notes if (usage := usage_of(each)) is not None]
    if not asked:
        return None
    columns = {name: [usage[name] for usage, _ in asked] for name in _LLM}
    return {name: None if None in each else sum(each) for name, each in columns.items()} | {
        "failed": sum(usage["failed"] or 0 for usage, _ in asked),
        "stopped": sum(own.get("stopped") is not None for _, own in asked),
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
