"""The scores that a finished run states, beside those that its answers get."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

from arena import trec
from arena.corpus import Corpus
from arena.errors import CorpusError, clip
from arena.kit.files import schema_error
from arena.metrics import ENCODER, ScoreContext, mean
from arena.runs.directory import OpenedRun
from arena.runs.trajectories import answers_of, seen_of
from arena.tasks import Stage

QRELS = "qrels.trec"
EQUAL = 1e-6
"""Encoders differ by less from machine to machine."""


class Misstatement(NamedTuple):
    """A score in ``metrics.json`` that the answers do not get; `topic_id` is "" for a mean."""

    topic_id: str
    metric: str
    stated: Any
    true: float | None


def misstated(
    run: OpenedRun, metrics: Mapping[str, Any], corpus: Corpus | None = None
) -> list[Misstatement] | None:
    """Return which scores in ``metrics.json`` the recorded answers of a run do not get.

    With the corpus of the run the answers are scored again by its labels: the headline, and the
    task's other metrics that need no encoder. Without it rankings alone are, by the labels in the
    run's own ``qrels.trec``. `metrics` has all topics of the run.

    Returns:
        The differences, topics first, then means; None where nothing could be scored.

    Raises:
        CorpusError: The corpus is not that of the run, or the file has no scores, or other clusters
            than the corpus.
    """
    if (why := schema_error(metrics, {"mean": dict, "per_topic": dict})) is not None:
        raise CorpusError(f"{str(run.directory / 'metrics.json')!r} was edited: {why}. Restore it.")
    path, known = run.directory / QRELS, QRELS in (run.files or {})
    gold = trec.read_qrels(path) if known and path.stat().st_size else {}
    tasks: Any = SimpleNamespace(gold=lambda name: SimpleNamespace(gains=gold.get(name, {})))
    task = copy.copy(run.task)
    if corpus is not None:
        tasks = run.open_corpus(corpus)[1]
        task = copy.copy(run.task.on(tasks))
    scored = [stage for stage in task.stages if corpus or (known and stage.answer.fits([]))]
    if not scored:
        return None
    whole = len(scored) == len(task.stages)
    task.stages = tuple(_cheap(stage, corpus is not None) for stage in scored)
    if not whole:
        task.parts = ()  # type: ignore[misc]  # of this copy
    encoder = run.manifest["environment"].get("encoder") or ENCODER
    given: dict[str, list[dict[str, float]]] = defaultdict(list)
    for record in run.episodes(every=True):
        if "failed" not in record:
            topic_id = record["topic_id"]
            context = ScoreContext(encoder, tasks=tasks, topic_id=topic_id, seen=seen_of(record))
            given[topic_id].append(task.evaluate(answers_of(record, run.task), context))
    names = [metric.name for metric in task.own_metrics] + [task.headline_name] * bool(task.parts)
    rows, counted = list[Misstatement](), defaultdict[str, list[float]](list)
    for topic_id in dict.fromkeys((*given, *metrics["per_topic"])):
        row, scores = metrics["per_topic"].get(topic_id), given.get(topic_id, [])
        if corpus is not None and isinstance(row, dict) and topic_id in tasks.topics:
            shared = {name: row[name] for name in ("cluster", "domain") if row.get(name)}
            if shared != (groups := tasks.groups(topic_id)):
                raise CorpusError(
                    f"{str(run.directory / 'metrics.json')!r} was edited: for topic "
                    f"{clip(topic_id)} it states {clip(shared)}, and the corpus has {groups}. "
                    "Restore it, or run it again with --overwrite."
                )
        for name in names:
            values = [each[name] for each in scores if name in each]
            true = math.fsum(values) / run.repeats if len(values) == run.repeats else None
            stated = row.get(name) if isinstance(row, dict) else clip(row)
            rows.append(Misstatement(topic_id, name, stated, true))
            if true is not None and task.can_score(tasks, topic_id):
                counted[name].append(true)
    for name in names if whole else ():
        rows.append(Misstatement("", name, metrics["mean"].get(name), mean(counted[name])))
    return [row for row in rows if not alike(row.stated, row.true)]


def refuse_misstated(
    run: OpenedRun, metrics: Mapping[str, Any], corpus: Corpus | None = None
) -> None:
    """Raise CorpusError if a run states a score that its answers do not get, see `misstated`."""
    if found := misstated(run, metrics, corpus):
        topic_id, name, stated, true = found[0]
        where = f"topic {clip(topic_id)}" if topic_id else "the mean"
        more = f" ({len(found)} such scores)" if len(found) > 1 else ""
        raise CorpusError(
            f"{str(run.directory / 'metrics.json')!r} was edited: for {where} it states "
            f"{name} {clip(stated)}, and the recorded answers get {true}{more}. Restore it, or run "
            "it again with --overwrite."
        )


def alike(stated: Any, found: Any, tolerance: float = EQUAL) -> bool:
    """Return whether two JSON values are equal, numbers to within `tolerance`."""
    numbers = [
        isinstance(each, int | float) and not isinstance(each, bool) for each in (stated, found)
    ]
    if all(numbers) and tolerance:
        return math.isclose(stated, found, abs_tol=tolerance)
    if isinstance(stated, list) and isinstance(found, list):
        stated, found = dict(enumerate(stated)), dict(enumerate(found))
    if isinstance(stated, dict) and isinstance(found, dict):
        return stated.keys() == found.keys() and all(
            alike(stated[key], found[key], tolerance) for key in stated
        )
    return bool(stated == found)


def _cheap(stage: Stage, labels: bool) -> Stage:
    """Return a stage with its headline, if there are `labels`, and metrics that need nothing."""
    first = stage.headlines[:1]
    metrics = [m for m in (*first, *stage.metrics) if not m.needs or (labels and m in first)]
    return replace(stage, metrics=tuple(dict.fromkeys(metrics)))
