"""The scores and costs of the finished runs of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import read_sealed, sha256_json
from arena.kit.terminal import progress
from arena.llm.outcomes import describe_answers
from arena.metrics import METRICS
from arena.mindmap.extractors import make_extractor
from arena.results.comparison.opening import open_runs, read_compared_run
from arena.runs import rescore
from arena.tasks import open_task
from arena_suites.experiments.config import Experiment
from arena_suites.experiments.grid import JUDGED, reported_metrics


def score_runs(
    experiment: Experiment, finished: Mapping[str, Any], corpus: Corpus, output: Path
) -> dict[str, dict[str, Any]]:
    """Score the runs of tables by the metrics of all tables of their task.

    The configuration's judge reads the reports, or mind-maps, of the runs in whose tables it has a
    column; without one its earlier verdicts count. `finished` has the `Cell.record` of each run. A
    metric whose packages are not installed is left out.

    Returns:
        Directory -> ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in
        `arena.rescore`, ``dates_guessed`` (topics, if there are any), ``sha256`` of what the run
        was made from, of its ``answers`` and ``manifest``, ``effort`` (see
        `arena.results.comparison`), the number of episodes with ``nothing`` submitted at some stage
        and that were ``stopped`` by a model, of agents that file papers the numbers of abstracts
        ``read`` and of papers, and of judged answers ``judge``.
    """
    metrics: dict[str, dict[str, None]] = {}
    for name, reported in reported_metrics(experiment).items():
        names = metrics.setdefault(experiment.tables[name].task, {})
        names |= dict.fromkeys(
            name
            for name in reported.values()
            if name.startswith(JUDGED) or _is_possible(name, experiment)
        )
    scores: dict[str, dict[str, Any]] = {}
    for key, record in progress(finished.items(), desc="scoring", unit="run"):
        if record["task"] not in metrics:  # another run begins with what this one found
            continue
        names = metrics[record["task"]]
        own = [name for name in names if not name.startswith(JUDGED)]
        scores[key] = _score(experiment, output / key, corpus, own)
        if len(own) == len(names):
            continue
        from arena_suites.experiments.judges import judge_of

        judge = judge_of(open_task(record["task"]))
        assert judge is not None  # the columns were checked
        verdicts = output / key / "judgements" / f"{judge.name}.json"
        if experiment.judge:
            judge.record(output / key, corpus, experiment.judge, "--judge-option")
        if verdicts.is_file():
            found = read_sealed(verdicts)
            mean = {f"{JUDGED}{name}": value for name, value in found["mean"].items()}
            scores[key] |= {
                "mean": scores[key]["mean"] | mean,
                "judge": {**found["judge"], "counts": found["counts"]},
            }
    return scores


def _is_possible(metric: str, experiment: Experiment) -> bool:
    """Return whether the packages that a metric needs are installed."""
    if "extractor" in METRICS.get(metric.rpartition(".")[2]).needs:
        try:
            make_extractor(experiment.extractor, experiment.extractor_options)
        except DataError:
            return False
    return True


def _score(
    experiment: Experiment, directory: Path, corpus: Corpus, metrics: Sequence[str]
) -> dict[str, Any]:
    names = list(dict.fromkeys(name.partition(".")[2] or name for name in metrics))
    scores = rescore(  # the task's own metrics where the judge's columns are the only ones
        directory, corpus, names or None, experiment.encoder, experiment.extractor,
        extractor_options=experiment.extractor_options,
    )  # fmt: skip
    ((name, (opened,)),) = open_runs([directory]).items()
    run, hashes = read_compared_run(name, *opened, lambda: None), opened[0].manifest["sha256"]
    notes = [record["notes"].get("llm") for record in opened[0].episodes()]
    every = ((each["topic_id"], each["notes"]) for each in opened[0].episodes(every=True))
    answers = describe_answers(every)
    filing = [record["notes"].get("filing") or {} for record in opened[0].episodes()]
    return {
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "counts": scores["counts"],
        **({"dates_guessed": guessed} if (guessed := scores.get("dates_guessed")) else {}),
        "sha256": hashes
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(run.manifest)},
        "effort": asdict(run.effort),
        **({"model": counts} if (counts := scores.get("model")) else {}),
        **({"answers": answers} if answers else {}),
        "nothing": sum(
            any(not entry["submitted"].get(stage.name) for stage in opened[0].task.stages)
            for entry in scores["per_topic"].values()
        ),
        "read": [sum(each.get(name, 0) for each in filing) for name in ("abstracts", "papers")],
        "stopped": sum(isinstance(n, dict) and n.get("stopped") is not None for n in notes),
    }
