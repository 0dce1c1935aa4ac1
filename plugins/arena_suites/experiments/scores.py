"""The finished runs of an experiment, scored, and compared with the baseline of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import read_sealed, sha256_json
from arena.kit.terminal import progress
from arena.llm.outcomes import describe_answers
from arena.metrics import METRICS
from arena.mindmap.extractors import make_extractor
from arena.results.comparison.comparing import Comparison, compare_by
from arena.results.comparison.opening import ComparedRun, open_runs, read_compared_run
from arena.results.comparison.papers import Place
from arena.runs import rescore
from arena.runs.players import ORACLE
from arena.tasks import open_task
from arena_suites.experiments.config import Experiment, TableSpec
from arena_suites.experiments.grid import JUDGED, reported_metrics
from arena_suites.experiments.judges import judge_of

_KEPT = ("per_topic", "unit", "counts", "dates_guessed", "model")
"""Keys of the result of `arena.rescore` that tables and comparisons take as they are."""


def score_runs(
    experiment: Experiment, finished: Mapping[str, Any], corpus: Corpus, output: Path
) -> dict[str, ComparedRun]:
    """Score the runs of tables by the metrics of all tables of their task.

    The configuration's judge reads the reports, or mind-maps, of the runs in whose tables it has a
    column; without one its earlier verdicts count. `finished` has the `Cell.record` of each run. A
    metric whose packages are not installed is left out.

    Returns:
        Directory -> run, as `arena.results.comparison` has it. Its ``metrics`` are ``per_topic``,
        ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in `arena.rescore`,
        ``dates_guessed`` (topics, if there are any), ``sha256`` of what the run was made from, of
        its ``answers`` and ``manifest``, ``effort``, the number of episodes with ``nothing``
        submitted at some stage and that were ``stopped`` by a model, of agents that file papers the
        numbers of abstracts ``read`` and of papers, and of judged answers ``judge``.
    """
    metrics: dict[str, dict[str, None]] = {}
    for name, reported in reported_metrics(experiment).items():
        names = metrics.setdefault(experiment.tables[name].task, {})
        names |= dict.fromkeys(
            name
            for name in reported.values()
            if name.startswith(JUDGED) or _is_possible(name, experiment)
        )
    scores: dict[str, ComparedRun] = {}
    for key, record in progress(finished.items(), desc="scoring", unit="run"):
        if record["task"] not in metrics:  # another run begins with what this one found
            continue
        names = metrics[record["task"]]
        own = [name for name in names if not name.startswith(JUDGED)]
        scores[key] = _score(experiment, output / key, corpus, own)
        if len(own) == len(names):
            continue
        judge = judge_of(open_task(record["task"]))
        assert judge is not None  # the columns were checked
        verdicts = output / key / "judgements" / f"{judge.name}.json"
        if experiment.judge:
            judge.record(output / key, corpus, experiment.judge, "--judge-option")
        if verdicts.is_file():
            found, own_scores = read_sealed(verdicts), scores[key].metrics
            values = judge.values(found)
            judged = {
                "mean": own_scores["mean"] | _named(found["mean"]),
                "judge": {**found["judge"], "counts": found["counts"]},
                "per_topic": {
                    topic: row | _named(values.get(topic, {}))
                    for topic, row in own_scores["per_topic"].items()
                },
            }
            scores[key] = replace(scores[key], metrics={**own_scores, **judged})
    return scores


def _named(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {f"{JUDGED}{name}": value for name, value in values.items()}


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
) -> ComparedRun:
    names = list(dict.fromkeys(name.partition(".")[2] or name for name in metrics))
    scores = rescore(  # the task's own metrics where the judge's columns are the only ones
        directory, corpus, names or None, experiment.encoder, experiment.extractor,
        extractor_options=experiment.extractor_options,
    )  # fmt: skip
    ((opened, _),) = open_runs([directory]).popitem()[1]
    run, hashes = read_compared_run("", opened, scores, lambda: None), opened.manifest["sha256"]
    episodes = [*opened.episodes(every=True)]
    notes = [record["notes"].get("llm") for record in episodes]
    answers = describe_answers((each["topic_id"], each["notes"]) for each in episodes)
    filing = [record["notes"].get("filing") or {} for record in episodes]
    return replace(run, metrics={
        **{name: scores[name] for name in _KEPT if name in scores},
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "sha256": hashes
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(run.manifest)},
        "effort": asdict(run.effort),
        **({"answers": answers} if answers else {}),
        "nothing": sum(
            any(not entry["submitted"].get(stage.name) for stage in opened.task.stages)
            for entry in scores["per_topic"].values()
        ),
        "read": [sum(each.get(name, 0) for each in filing) for name in ("abstracts", "papers")],
        "stopped": sum(isinstance(n, dict) and n.get("stopped") is not None for n in notes),
    })  # fmt: skip


def compare_rows(
    experiment: Experiment,
    spec: TableSpec,
    reported: Mapping[str, str],
    runs: Mapping[str, ComparedRun],
) -> tuple[Comparison, dict[str, Place]]:
    """Return the comparison of a table's runs, and where each stands.

    Its metrics are called by their headings, the keys of `reported`. Each run but an oracle's is
    compared with that of the baseline by the same engine, or else its first. A run without any
    value of a metric is left out of it.
    """
    named, places = dict[str, ComparedRun](), dict[str, Place]()
    for label, _, engine, key in experiment.runs_of(spec):
        name, column = f"{label} ({engine})", engine if spec.columns == "retrievers" else ""
        named[name] = replace(runs[key], name=name)
        places[name] = Place(label, column, label, engine)
    fair = [name for name, run in named.items() if run.manifest["agent"] != ORACLE]
    labels = [places[name].row for name in [*fair, *named]]
    baseline = spec.baseline if spec.baseline in labels else labels[0]
    against = {at.engine: name for name, at in places.items() if at.row == baseline}
    first = next(iter(against.values()))
    pairs = [
        (name, against.get(places[name].engine, first))
        for name in fair
        if places[name].row != baseline
    ]
    judge, how, compared = judge_of(open_task(spec.task)), ("fisher", 0.95), []
    for heading, metric in reported.items():
        scored = {
            name: run
            for name, run in named.items()
            if any(row.get(metric) is not None for row in run.metrics["per_topic"].values())
        }
        if judge is not None and metric.startswith(JUDGED):
            lower = False if metric.removeprefix(JUDGED) in judge.directed else None
        else:
            lower = METRICS.get(metric.rpartition(".")[2]).lower_is_better
        both = [pair for pair in pairs if {*pair} <= scored.keys()]
        found = compare_by(metric, lower, [*(scored or named).values()], both, *how)
        compared.append(replace(found, metric=heading))
    shared = set.intersection(*({*run.metrics["per_topic"]} for run in named.values()))
    whose = f"{baseline} by the same retriever" if len(against) > 1 else first
    comparison = Comparison(
        spec.task, tuple(named.values()), whose, *how,
        tuple(compared), compared[0].metric, tuple(sorted(shared)), {}, (),
    )  # fmt: skip
    return comparison, places
