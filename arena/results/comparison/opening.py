"""Runs that are compared: opened and checked, named, refused where they differ, and read."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arena import trec
from arena.corpus import Corpus
from arena.dates import undated_mark
from arena.errors import DataError, clip
from arena.kit.files import sha256_json
from arena.metrics import mean
from arena.plugins import Registry
from arena.runs.checking import refuse_misstated
from arena.runs.directory import OpenedRun, read_timing
from arena.runs.repeats import is_of_repeats
from arena.runs.scoring import limits, rescore
from arena.runs.trajectories import TRAJECTORIES
from arena.tasks import EXPERT, EXPERT_PAPERS, Task
from arena.text.display import count, plural
from arena.tools import parse_action, queries_of


@dataclass(frozen=True)
class Effort:
    """The cost of one or several episodes; None is an unknown number.

    `errors` are actions that could not be carried out, `truncated` episodes that the budget ended,
    `models` to `failed` the use of language models as the agent records it (`failed` answers could
    not be parsed, after one repetition), `seconds` the time of a run that was timed.
    """

    episodes: int
    steps: int | None
    searches: int | None
    reads: int | None
    characters: int | None
    errors: int | None
    truncated: int | None
    models: tuple[str, ...] = ()
    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    dollars: float | None = None
    failed: int | None = None
    seconds: float | None = None

    @classmethod
    def total(cls, efforts: Iterable[Effort], seconds: float | None) -> Effort:
        """Return the sum, with the time of the run; one unknown part makes a number unknown."""
        rows = [dataclasses.asdict(effort) for effort in efforts]
        models = tuple(sorted({name for row in rows for name in row["models"]}))
        sums: Any = {
            name: None if None in (parts := [row[name] for row in rows]) else sum(parts)
            for name in rows[0].keys() - {"models", "seconds"}
        }
        return cls(models=models, seconds=seconds, **sums)


@dataclass(frozen=True)
class PlayedEpisode:
    """The episode of a run on one topic.

    Attributes:
        curve: Share of the references in reach that were shown after 0, 1, 2, ... searches.
        answers: Stage -> an answer as JSON has it, see `arena.answers.AnswerKind.read`.
        effort: What it cost.
    """

    curve: tuple[float, ...]
    answers: Mapping[str, Any]
    effort: Effort


@dataclass(frozen=True)
class ComparedRun:
    """A run with its unique name in this comparison, and why its episodes have no curves.

    `task` is the task that it played; a system that a suite scored has none. `opened` is the run
    itself, None of a file of answers, and `gold` its labels: topic -> paper -> gain. `pooled` runs
    over `corpora` corpora may stand behind it, see `pool`. `repeats` are the scores of a topic in
    each of these, or in each episode of a run that plays a topic several times; pooled ones have
    the beginning of the ``corpus`` hash, and the ``system``, of what the run is of.
    """

    name: str
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any]
    episodes: Mapping[str, PlayedEpisode]
    effort: Effort
    why_no_curve: str | None
    place: Path = Path()
    task: Task | None = None
    opened: OpenedRun | None = None
    gold: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    pooled: int = 1
    corpora: int = 1
    repeats: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def unseen(self) -> float | None:
        """Mean share of submitted ids that no result of their episode had; None if unknown."""
        return mean(row.get("unseen") for row in self.metrics["per_topic"].values())

    def curve(self, topics: Sequence[str]) -> tuple[float, ...]:
        """Return the mean curve over topics; an episode that has ended keeps its last share."""
        curves = [self.episodes[topic].curve for topic in topics]
        longest = max(map(len, curves))
        filled = [[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves]
        return tuple(np.array(filled).mean(axis=0).tolist())


_METRICS = "metrics.json"
_QRELS = "qrels.trec"
_SHORT = 12


Opened = tuple[OpenedRun, dict[str, Any]]
"""A finished run and its ``metrics.json``."""

RESULT_READERS: Registry[Callable[[Path], Opened]] = Registry("result reader")
result_reader = RESULT_READERS.register
"""Decorator ``@result_reader(".ending")`` of a function that reads files of another program.

What it returns states its scores; it has no ``files``, and its episodes have no steps.
"""


def open_runs(
    runs: Sequence[str | Path],
    common: bool = False,
    corpus: Corpus | None = None,
    metrics: Sequence[str] = (),
) -> dict[str, list[Opened]]:
    """Return name -> its runs, one or those of ``NAME=DIR,DIR``, checked to be comparable.

    With `common` they are cut to the topics that all of them played. With `corpus`, theirs, they
    have `metrics` that they did not report, and the ceilings and floors of these topics. Raise
    CorpusError for scores that the answers do not get, see `refuse_misstated`.
    """
    given, places = zip(*map(split_name, runs), strict=True)
    systems = [[_open_run(each) for each in directories_of(place)] for place in places]
    every = [opened for system in systems for opened in system]
    _refuse_twice([run for run, _ in every])
    for run, scores in every:
        known = corpus is not None and corpus.sha256 == _corpus_of(
            run
        )  # one of several pooled ones
        if run.files is not None:
            refuse_misstated(run, scores, corpus if known else None)
    names = name_runs(given, [system[0][0] for system in systems])
    for run, scores in every if corpus else ():
        if missing := [name for name in metrics if name not in scores["mean"]]:
            _score_by(run, scores, corpus, missing)
    by_corpus: dict[str, list[Opened]] = {}
    for opened in every:
        by_corpus.setdefault(_corpus_of(opened[0]), []).append(opened)
    for same in by_corpus.values() if common else ():
        _keep_common(same, corpus, metrics)
    by_name = dict(zip(names, systems, strict=True))
    _refuse_different(by_name)
    return by_name


def _corpus_of(run: OpenedRun | ComparedRun) -> str:
    return str(run.manifest["sha256"].get("corpus"))


def _score_by(
    run: OpenedRun, scores: dict[str, Any], corpus: Corpus | None, metrics: Sequence[str]
) -> None:
    """Add metrics that the run did not report."""
    assert corpus is not None
    found = rescore(run.directory, corpus, metrics)
    for name in ("mean", "ceiling"):
        scores[name] |= found[name]
    for topic, row in scores["per_topic"].items():
        row |= {name: found["per_topic"][topic][name] for name in found["mean"]}


def _keep_common(opened: Sequence[Opened], corpus: Corpus | None, metrics: Sequence[str]) -> None:
    shared = set.intersection(*(set(scores["per_topic"]) for _, scores in opened))
    if not shared:
        raise DataError("the runs share no topic. Compare runs of the same topics.")
    for run, scores in opened:
        if len(scores["per_topic"]) == len(shared):
            continue
        rows = {s: row for s, row in scores["per_topic"].items() if s in shared}
        scored = sum(all(row[name] is not None for name in scores["mean"]) for row in rows.values())
        known: dict[str, Any] = {"ceiling": {}, "floors": None}
        if corpus is not None:
            known = limits(run, run.open_corpus(corpus)[1], shared, run.task.find_metrics(metrics))
        ceilings = {
            name: known["ceiling"].get(name.partition(".")[2] if is_of_repeats(name) else name)
            for name in scores["ceiling"]
        }
        scores |= {"per_topic": rows, "floors": known["floors"], "ceiling": ceilings}
        scores["counts"] = scores["counts"] | {"topics": len(rows), "scored": scored}


def has_reader(place: str | Path) -> bool:
    """Return whether a plug-in reads a file by how its name ends, or the first of ``FILE,FILE``."""
    return _ending(directories_of(place)[0]) is not None


def _ending(place: str | Path) -> str | None:
    return next((e for e in RESULT_READERS.names() if Path(place).name.endswith(e)), None)


def _open_run(directory: str | Path) -> tuple[OpenedRun, dict[str, Any]]:
    """Return a finished run whose files are as it left them, and its ``metrics.json``."""
    if (ending := _ending(directory)) is not None:
        return RESULT_READERS.get(ending)(Path(directory))
    run = OpenedRun(directory)
    run.refuse_changed(*{**run.finished_files(), _METRICS: "", TRAJECTORIES: ""})
    return run, json.loads((run.directory / _METRICS).read_bytes())


def read_compared_run(
    name: str, run: OpenedRun, metrics: Mapping[str, Any], tick: Callable[[], Any]
) -> ComparedRun:
    """Return a run by its name in the comparison, with its episodes; call `tick` after each."""
    manifest = run.manifest
    episodes, efforts = dict[str, PlayedEpisode](), []
    repeats = dict[str, list[Mapping[str, Any]]]()
    for record in run.episodes(every=True):
        if (topic := record["topic_id"]) not in metrics["per_topic"]:
            continue
        one = metrics["per_topic"][topic] if run.repeats == 1 else record["metrics"]
        repeats.setdefault(topic, []).append(one)
        played = played_episode(record, run)
        episodes.setdefault(topic, played)  # the first of several is shown
        efforts.append(played.effort)
        tick()
    effort = Effort.total(efforts, read_timing(run.directory))
    why, remarks = None, tuple[str, ...]()
    if run.files is None:
        why = "its file has no steps"
        remarks = (f"{name}: scores are as {run.directory.name} states them, not checked.",)
    elif manifest["environment"].get("references") is not None:
        why = "its agent was given papers at the beginning"
    elif all(len(episode.curve) < 2 for episode in episodes.values()):
        why = "it searches nothing"
    return ComparedRun(
        name, manifest, metrics, episodes, effort, why, run.directory, run.task, run,
        read_gold(run, metrics["per_topic"]), remarks, repeats=repeats,
    )  # fmt: skip


def pool(runs: Sequence[ComparedRun]) -> ComparedRun:
    """Return several runs of one system as one: the topics of all corpora, means over runs.

    Where the runs are of several corpora, topics and clusters have the beginning of its hash. The
    first run of each corpus is the one whose episodes are shown.
    """
    if len(runs) == 1:
        return runs[0]
    first, corpora = runs[0], {_corpus_of(run): run for run in reversed(runs)}
    rows, episodes = dict[str, list[dict[str, Any]]](), dict[str, PlayedEpisode]()
    gold = dict[str, Mapping[str, int]]()
    for run in runs:
        mark = f"{_corpus_of(run)[:8]}:" if len(corpora) > 1 else ""
        system = [run.manifest[key] for key in ("agent", "agent_options", "seed")]
        of = {"corpus": _corpus_of(run)[:8], "system": sha256_json(system)[:8]}
        gold |= {mark + topic: gains for topic, gains in run.gold.items()}
        for topic, row in run.metrics["per_topic"].items():
            inside = {"cluster": mark + row["cluster"]} if row.get("cluster") else {}
            rows.setdefault(mark + topic, []).append(row | inside | of)
            episodes.setdefault(mark + topic, run.episodes[topic])
    names = [n for n in first.metrics["mean"] if all(n in run.metrics["mean"] for run in runs)]
    merged = {
        topic: dict(same[0])
        | {name: _mean_or_none(row[name] for row in same) for name in names}
        | {"unseen": mean(row.get("unseen") for row in same)}
        for topic, same in rows.items()
    }
    scored = sum(run.metrics["counts"]["scored"] for run in corpora.values())
    metrics: dict[str, Any] = dict(first.metrics) | {
        "mean": {name: mean(row[name] for row in merged.values()) for name in names},
        "per_topic": merged,
        "ceiling": first.metrics["ceiling"] if len(corpora) == 1 else {},
        "floors": None,
        "counts": first.metrics["counts"] | {"scored": scored},
    }
    unit = max((run.metrics.get("unit", "topic") for run in runs), key=undated_mark)
    metrics["unit"] = unit
    over = count(len(corpora), "corpus", "corpora")
    remark = (
        f"{first.name} pools {count(len(runs), 'run')} over {over}: a {unit}'s value is the mean "
        f"over its runs. Clusters of {plural(unit)} are resampled and flipped, not runs, so "
        "intervals and tests say nothing of other seeds or corpora."
    )
    return dataclasses.replace(
        first, metrics=metrics, episodes=episodes, pooled=len(runs), corpora=len(corpora),
        effort=Effort.total((run.effort for run in runs), None), why_no_curve="it is several runs",
        gold=gold, repeats=rows,
        remarks=(remark, *(each for run in runs for each in run.remarks)),
    )  # fmt: skip


def _mean_or_none(values: Iterable[float | None]) -> float | None:
    known = [*values]
    return None if None in known else mean(known)


def read_gold(run: OpenedRun, topics: Container[str]) -> dict[str, dict[str, int]]:
    """Return topic -> gold paper -> gain, of `topics`; empty where the task has no ranking."""
    qrels = run.directory / _QRELS
    if _QRELS not in (run.files or {}) or not qrels.stat().st_size:
        return {}
    return {s: gains for s, gains in trec.read_qrels(qrels).items() if s in topics}


def played_episode(record: Mapping[str, Any], run: OpenedRun) -> PlayedEpisode:
    """Return the episode of `record`, a line of ``trajectories.jsonl`` of a run."""
    if not record["steps"]:
        return PlayedEpisode((0.0,), {}, Effort(1, None, None, None, None, None, None))
    curve, shown = [0.0], 0.0
    for step in record["steps"]:
        call = parse_action(step["action"], run.tools)
        if not isinstance(call, str) and "error" not in step:
            # Of several queries the last one has what all have found.
            curve += [curve[-1]] * len(queries_of(call.arguments))
        shown += step["gain"]
        curve[-1] = min(1.0, shown)  # thirds and the like need not add up to 1
    spent = {name: record["spent"].get(name, 0) for name in ("steps", "searches", "reads")}
    usage = usage_of(record["notes"]) or {"model": ""}
    model = usage.pop("model")
    effort = Effort(
        episodes=1,
        **spent,
        characters=record["spent"].get("characters", 0),
        errors=sum("error" in step for step in record["steps"]),
        truncated=int(record["truncated"]),
        models=(model,) if model else (),
        **usage,
    )
    return PlayedEpisode(tuple(curve), record["answers"], effort)


def usage_of(notes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the use of a language model that an agent's notes record, as in `Effort`, or None.

    Notes are free in form (docs/llm.md): what has another form is unknown, not an error.
    """
    usage = notes.get("llm")
    if not isinstance(usage, dict):
        return None
    total, failed, model = usage.get("total"), usage.get("failed"), usage.get("model")
    total = total if isinstance(total, dict) else {}
    names = ("calls", "prompt_tokens", "completion_tokens", "dollars")
    return {
        "model": model if isinstance(model, str) else "",
        **{name: _number(total.get(name)) for name in names},
        "failed": len(failed) if isinstance(failed, list) else None,
    }


def _number(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < math.inf else None


def split_name(text: str | Path) -> tuple[str | None, str | Path]:
    """Return (name, directory) of ``NAME=DIR``; the name is None where there is only a directory.

    >>> split_name("ours=runs/scout"), split_name("runs/scout")
    (('ours', 'runs/scout'), (None, 'runs/scout'))
    """
    # Not `Path.exists`, which raises for a name that is too long for a file.
    if not isinstance(text, str) or "=" not in text or os.path.exists(text):  # noqa: PTH110
        return None, text
    name, _, directory = text.partition("=")
    return name.strip(), directory


def name_runs(given: Sequence[str | None], runs: Sequence[OpenedRun]) -> list[str]:
    """Return a name for each run: the given one, or agent and retriever, or its directory's."""
    places = _refuse_twice(runs)
    for candidates in (
        [f"{r.manifest['agent']}, {r.manifest['environment']['retriever']}" for r in runs],
        [place.name for place in places],
        [f"{place.parent.name}, {place.name}" for place in places],  # in an experiment
    ):
        names = [name or other for name, other in zip(given, candidates, strict=True)]
        if len(set(names)) == len(names):
            return names
    common = min(name for name in names if names.count(name) > 1)
    raise DataError(f"several runs are called {clip(common)}. Name them: NAME=DIR.")


def directories_of(place: str | Path) -> list[str | Path]:
    """Return the directories of ``DIR,DIR``; a directory whose name has a comma is one."""
    several = isinstance(place, str) and "," in place and not os.path.exists(place)  # noqa: PTH110
    named = [each.strip() for each in str(place).split(",") if each.strip()] if several else []
    return [*named] or [place]


def _refuse_twice(runs: Sequence[OpenedRun]) -> list[Path]:
    """Return the places of runs; refuse a run that is given twice."""
    places = [run.directory.resolve() for run in runs]
    for place, run in zip(places, runs, strict=True):
        if places.count(place) > 1:
            raise DataError(f"the run {str(run.directory)!r} is given twice. Name each run once.")
    return places


def _refuse_different(systems: Mapping[str, Sequence[Opened]]) -> None:
    """Refuse runs that differ in what they played; the message has both values.

    Pooled runs of several corpora are compared with others of the same corpus, and in task, metrics
    and encoder with all.
    """
    corpora = [{_corpus_of(run) for run, _ in runs} for runs in systems.values()]
    pooled = max(map(len, corpora)) > 1
    if pooled and any(each != corpora[0] for each in corpora):
        raise DataError("the systems were run over different corpora: pool runs of the same ones.")
    firsts: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, opened in [(name, opened) for name, runs in systems.items() for opened in runs]:
        name = name if len(systems[name]) == 1 else f"{name} ({opened[0].directory})"
        identity = _identity(*opened)
        key = identity["corpus"] if pooled else ""
        first, expected = firsts.setdefault(key, (name, identity))
        whole = next(iter(firsts.values()))[1]
        expected = expected | {what: whole[what] for what in ("task", "metrics", "encoder")}
        differing = {what: value for what, value in expected.items() if value != identity[what]}
        # Another corpus has other topics, another task other metrics.
        for cause, *effects in (("corpus", "task set", "topics"), ("task", "metrics", "encoder")):
            if cause in differing:
                differing = {k: v for k, v in differing.items() if k not in effects}
        if differing:
            parts = [f"{k} ({_shown(v)} and {_shown(identity[k])})" for k, v in differing.items()]
            only = " --common compares the topics of both." if [*differing] == ["topics"] else ""
            raise DataError(
                f"{name!r} cannot be compared with {first!r}: they differ in {'; '.join(parts)}. "
                f"Leave one of them out, or run it again like the other.{only}"
            )


def _identity(run: OpenedRun, metrics: Mapping[str, Any]) -> dict[str, Any]:
    hashes = run.manifest["sha256"]
    return {
        "task": run.task.name,
        "corpus": str(hashes.get("corpus")),
        "task set": str(hashes.get("tasks")),
        "topics": sorted(metrics["per_topic"]),
        "metrics": [name for name in metrics["mean"] if not is_of_repeats(name)],
        "encoder": run.manifest.get("encoder"),
    }


def _shown(value: Any) -> str:
    """Return a value that differs, of a list its length."""
    return str(len(value)) if isinstance(value, list) else clip(value)


def notes_on(manifests: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence on each thing that differs and may: code, release, budget, seed, reward."""
    settings = {name: settings_of(manifest) for name, manifest in manifests.items()}
    for what, groups in grouped(settings).items():
        if len(groups) > 1:
            parts = [f"{value} ({'; '.join(names)})" for value, names in groups.items()]
            yield f"The runs differ in {what}: {', '.join(parts)}."


def grouped(settings: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Return setting -> value, or "none" -> names, of the settings of each name."""
    found: dict[str, dict[str, list[str]]] = {}
    for what in {what: None for values in settings.values() for what in values}:
        for name, values in settings.items():
            found.setdefault(what, {}).setdefault(values.get(what, "none"), []).append(name)
    return found


def settings_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return in words what may differ between runs that are compared."""
    hashes, options = manifest["sha256"], manifest["environment"]
    known = {"oracle": "the survey's own references", EXPERT: EXPERT_PAPERS}
    papers = known.get(str(options.get("references")), "none")
    if isinstance(found := options.get("start_from"), Mapping):
        papers = f"those of the run {str(found.get('sha256'))[:_SHORT]}"
    digests = hashes.get("input")
    return {
        # Without the agent's own, which differs where that lies in a file of the user's.
        "the code of environment and scores": str(hashes.get("environment"))[:_SHORT],
        "release": manifest["arena"],
        **{f"budget, {k}": f"{v:,}" for k, v in sorted(manifest["budget"].items())},
        "seed": str(manifest["seed"]),
        "reward": str(options.get("reward")),
        "the papers that an episode begins with": papers,
        "what an episode shows of a paper": (
            f"{options.get('show')} {str(digests)[:_SHORT]}" if digests else "title_abstract"
        ),
    }
