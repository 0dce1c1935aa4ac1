"""Run a grid of agents and retrievers, and lay the scores out as tables such as the paper's.

>>> import arena
>>> arena.run_experiment("researcharena", "demo/world", "runs/paper",
...                      agents=["title", "random"])  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena._internal.files import sha256_json, write_json
from arena._internal.terminal import progress
from arena._internal.workdir import OutputKind, output_directory, read_manifest_of
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.mindmap import needs
from arena.mindmap.extractors import make_extractor
from arena.results.comparison import usage_of
from arena.results.experiments.config import Experiment, read_experiment, slug
from arena.results.experiments.grid import JUDGED, Cell, make_grid, reported_metrics, state_of
from arena.results.experiments.tables import TABLE_FILES, VERSION, make_tables, printed
from arena.runs import rescore, run
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet, kind_of_metric, stages_of

if TYPE_CHECKING:
    from arena.judging import StatementJudgements

__all__ = ["Experiment", "Planned", "preview", "printed", "read_experiment", "run_experiment"]

_MANIFEST = "experiment.json"
_KIND = OutputKind("experiment", _MANIFEST, {"config": dict, "sha256": dict})
_LLM = ("calls", "prompt_tokens", "completion_tokens", "dollars")
_HASHES = ("corpus", "tasks", "index", "retrievers", "input", "prompts", "code", "environment")


class Planned(NamedTuple):
    """A run that an experiment needs.

    Attributes:
        run: Its directory, relative to the experiment.
        agent: Name of the agent.
        retriever: Name of the retriever.
        episodes: Number of its episodes.
        done: Number of those that were played.
        state: ``done``, ``begun``, ``to do``, or ``another run`` where its directory holds one.
    """

    run: str
    agent: str
    retriever: str
    episodes: int
    done: int
    state: str


def run_experiment(
    config: str | Path | Mapping[str, Any],
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    tables: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    surveys: Sequence[str] | int | None = None,
    retrievers: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    keep_going: bool = False,
) -> dict[str, Any]:
    """Run agents with retrievers on a corpus, and lay the scores out as tables.

    Each run is one of `arena.run`, in ``runs/TASK/ROW/RETRIEVER/`` of `output`. A finished run is
    not played again, an interrupted one resumes; the same arguments give the same files.
    docs/experiments.md describes the configuration and the files.

    Args:
        config: A YAML file, the name of a shipped one such as ``researcharena``, or a mapping
            like one, in which an agent may be a class.
        corpus: A built corpus, or its directory.
        output: A new directory, or one with the same experiment begun.
        tables: Names of the tables to make; by default all.
        agents: Labels of rows or names of agents, to play and print these alone.
        surveys: Ids, or how many; in place of those of the configuration.
        retrievers: Label -> another retriever in its place.
        changes: Key of the configuration, with dots, such as ``llm.model`` -> another value.
        overwrite: Begin the runs anew.
        keep_going: Play on when a run fails, and make the tables without it.

    Returns:
        The content of ``tables.json``.

    Raises:
        UnknownNameError: A name is unknown; nothing was played.
        DataError: The configuration cannot be used; nothing was played.
        CorpusError: An index is missing, or `output` holds something else.
        ArenaError: A run fails. What was played is kept, and the same call resumes. With
            `keep_going` it is raised at the end, when the tables are written.
    """
    corpus, output = Corpus.of(corpus), Path(output)
    experiment = read_experiment(config, changes, retrievers, tables, agents, surveys)
    cells = make_grid(experiment, corpus, prepare=not keep_going)
    manifest = _manifest(experiment, cells, corpus)
    with output_directory(output, _KIND) as before:
        if before is None:
            write_json(output / _MANIFEST, manifest)
        _check_same(output, before or manifest, manifest)
        left = {}
        for key, cell in cells.items():  # refuse other runs before anything changes
            done, _, differs = state_of(output, cell, experiment, _hashes(corpus))
            if differs and not overwrite:
                raise CorpusError(
                    f"{str(output / key)!r} holds another run (it differs in "
                    f"{', '.join(differs)}). Name another directory or pass --overwrite."
                )
            left[key] = max(0, len(cell.surveys) - (0 if overwrite else done))
        if overwrite:
            _clear(output)  # of runs that will not be there
        failed = _play(experiment, cells, corpus, output, left, overwrite, keep_going)
        _clear(output)  # tables of another configuration must not stand beside its name
        write_json(output / _MANIFEST, manifest)
        finished = {key: cell for key, cell in cells.items() if key not in failed}
        judged = _judge(experiment, finished, corpus, output)
        scores = _score_runs(experiment, finished, judged, corpus, output)
        content = make_tables(experiment, cells, scores, corpus, output, manifest["sha256"])
        _write_pages(output, corpus, finished)
    if failed:
        name, error = next(iter(failed.items()))
        raise ArenaError(
            f"{len(failed)} of {len(cells)} runs failed, and the tables are without them. The "
            f"first, {name}: {error}"
        )
    return content


def preview(
    config: str | Path | Mapping[str, Any],
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    overwrite: bool = False,
    **choices: Any,
) -> list[Planned]:
    """Return the runs that `run_experiment` would make, in their order; write nothing.

    With `overwrite` nothing counts as played. Changes of code since a run are not checked; a run
    checks them when it resumes. `choices` are `tables`, `agents`, `surveys`, `retrievers` and
    `changes`.

    Raises:
        ArenaError: As `run_experiment` before it plays.
    """
    corpus, output = Corpus.of(corpus), Path(output)
    experiment = read_experiment(config, **choices)
    planned = []
    for key, cell in make_grid(experiment, corpus).items():
        done, finished, differs = state_of(output, cell, experiment, _hashes(corpus))
        state = "another run" if differs else "done" if finished else "begun" if done else "to do"
        if overwrite:
            done, state = 0, "to do"
        agent, retriever = cell.record["agent"], cell.record["retriever"]
        planned.append(Planned(key, agent, retriever, len(cell.surveys), done, state))
    return planned


def _hashes(corpus: Corpus) -> dict[str, str]:
    return {"corpus": corpus.sha256, "tasks": TaskSet(corpus).sha256}


def _manifest(experiment: Experiment, cells: Mapping[str, Cell], corpus: Corpus) -> dict[str, Any]:
    """Return the configuration as it was understood, without paths and hosts."""
    config = {
        **experiment.model_dump(
            include={"name", "seed", "budget", "encoder", "extractor", "retrievers"}
        ),
        "title": experiment.title or experiment.name,
        "surveys": "all" if experiment.surveys is None else experiment.surveys,
        "tables": {
            name: table.model_dump(include={"title", "task", "metrics", "columns", "group"})
            | ({"by": table.by} if table.by else {})
            | {
                "rows": list(table.rows),
                "more": list(table.more),
                "groups": {label: row.group for label, row in table.all_rows.items() if row.group},
            }
            for name, table in experiment.tables.items()
        },
        "runs": [cell.record for cell in cells.values()],
    }
    if experiment.figures:
        config |= experiment.model_dump(include={"figures"})
    return {
        "version": VERSION,
        "config": config,
        "sha256": {"config": sha256_json(config), **_hashes(corpus)},
        "surveys": {cell.record["task"]: cell.surveys for cell in cells.values()},
    }


def _check_same(output: Path, before: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Refuse another experiment, corpus or task set.

    Another choice of tables, agents or retrievers is the same experiment: each run checks itself.
    """
    for key, part, what in (
        ("name", "config", "the experiment"),
        ("corpus", "sha256", "this experiment on the corpus"),
        ("tasks", "sha256", "this experiment on the task set"),
    ):
        old, new = (each[part].get(key) for each in (before, manifest))
        if old != new:
            raise CorpusError(
                f"{str(output)!r} holds {what} {clip(old)}, this is {clip(new)}. Name another "
                "directory."
            )


def _clear(output: Path) -> None:
    """Remove the tables and pages of the last call, whose manifest is still there."""
    tasks = (read_manifest_of(output, _KIND) or {}).get("surveys")
    pages = [_page_of(str(task)) for task in tasks] if isinstance(tasks, dict) else []
    figures = [path.name for path in output.glob("figure-*.svg")]
    for name in (*TABLE_FILES, *pages, *figures):
        (output / name).unlink(missing_ok=True)


def _page_of(task: str) -> str:
    return f"comparison-{slug(task)}.html"


def _play(
    experiment: Experiment,
    cells: Mapping[str, Cell],
    corpus: Corpus,
    output: Path,
    left: Mapping[str, int],
    overwrite: bool,
    keep_going: bool,
) -> dict[str, ArenaError]:
    """Play every run; return the errors of those that failed."""
    failed: dict[str, ArenaError] = {}
    total = sum(len(cell.surveys) for cell in cells.values())
    begun = total - sum(left.values())  # not played now, and so no part of the rate
    with progress(total=total, initial=begun, desc=experiment.name, unit="episode") as bar:
        for key, cell in cells.items():
            try:
                record, found = cell.record, cell.record["found"]
                if found in failed:
                    raise ArenaError(f"{found}, which it begins with, failed.")
                settings = cell.settings(experiment)
                if found is not None:
                    settings["found"] = str(output / found)
                run(
                    corpus,
                    record["task"],
                    cell.agent,
                    output / key,
                    **settings,
                    agent_options=cell.options,
                    surveys=cell.surveys,
                    seed=experiment.seed,
                    overwrite=overwrite,
                )
            except ArenaError as error:
                if not keep_going:
                    raise type(error)(f"{key}: {error}") from error
                failed[key] = error
            bar.update(left[key])
    return failed


def _judge(
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
    runs = [key for key, cell in finished.items() if cell.record["task"] in tasks]
    if not experiment.judge or not runs:
        return {}
    from arena.judging import record_statements

    return {
        key: record_statements(output / key, corpus, experiment.judge, "--judge-option")
        for key in progress(runs, desc="judge", unit="run")
    }


def _write_pages(output: Path, corpus: Corpus, finished: Mapping[str, Cell]) -> None:
    """Write ``comparison-TASK.html`` for every task with two runs; the first is the baseline."""
    from arena.results.comparison import compare, write_html

    by_task: dict[str, dict[str, str]] = {}
    for key, cell in finished.items():
        # The first "=" of NAME=DIR ends the name; "a, b" with "c" is not "a" with "b, c".
        name = f"{cell.record['row']}, {cell.record['column']}".replace("=", "-")
        runs = by_task.setdefault(cell.record["task"], {})
        runs[key.split("/", 2)[2] if name in runs else name] = key
    for task, runs in by_task.items():
        if len(runs) > 1:
            named = [f"{name}={output / key}" for name, key in runs.items()]
            write_html(compare(named), output / _page_of(task), corpus)


def _score_runs(
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
        the run was made from and of its ``answers``, ``spent`` (sums over episodes), ``truncated``
        and ``nothing`` (episodes that the budget ended, and that submitted nothing at some stage),
        of an agent with a model ``llm``: calls, tokens, dollars (None where unknown), ``failed``
        steps and the number of episodes that were ``stopped``; and of judged reports ``judge``.
    """
    metrics: dict[str, dict[str, None]] = {}
    for name, table in experiment.tables.items():
        for metric in reported_metrics(experiment)[name].values():
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
    """Return the scores of a run; see `_score_runs`."""
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
