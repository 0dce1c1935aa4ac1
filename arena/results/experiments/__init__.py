"""Run a grid of agents and retrievers, and lay the scores out as tables such as the paper's.

>>> import arena
>>> arena.run_experiment("researcharena", "demo/world", "runs/paper",
...                      agents=["title", "random"])  # doctest: +SKIP
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import atomic_write, read_json, sha256_file, sha256_json, write_json
from arena._internal.settings import ConfigSource
from arena._internal.terminal import progress
from arena._internal.workdir import OutputKind, output_directory, read_manifest_of
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.plugins import load
from arena.results.comparison import Comparison, as_latex, compare, write_html
from arena.results.comparison.opening import split_name
from arena.results.experiments.config import RUNS, Experiment, read_experiment, slug
from arena.results.experiments.grid import Cell, make_grid
from arena.results.experiments.scores import score_runs
from arena.results.experiments.tables import make_tables, printed
from arena.runs import run
from arena.runs.replaying import Replay, replay
from arena.runs.trajectories import TRAJECTORIES
from arena.tasks import TaskSet
from arena.text.display import count

__all__ = [
    "Experiment", "Planned", "compare_experiments", "is_experiment", "preview", "printed",
    "read_experiment", "replay_experiment", "run_experiment",
]  # fmt: skip

VERSION = 2
_MANIFEST = "experiment.json"
_WRITTEN = ("tables.md", "tables.tex", "tables.json", "comparison-*.*")
_UNRECORDED = {"__all__": {"options", "env_options", "found"}}  # see the runs
_KIND = OutputKind("experiment", _MANIFEST, {"config": dict, "sha256": dict})


class Planned(NamedTuple):
    """A run that an experiment needs; `run` is its directory, relative to the experiment.

    `done` of its `episodes` were played; `state` is ``done``, ``begun`` or ``to do``.
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
    add: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    keep_going: bool = False,
    plugins: Sequence[str | Path] = (),
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
        add: Label -> an agent, which becomes a row of every table.
        overwrite: Play the runs from scratch.
        keep_going: Play on when a run fails, and make the tables without it.
        plugins: Files of plug-ins to load first, see `arena.plugins`.

    Returns:
        The content of ``tables.json``.

    Raises:
        UnknownNameError: A name is unknown; nothing was played.
        DataError: The configuration cannot be used; nothing was played.
        CorpusError: An index is missing, or `output` contains something else.
        ArenaError: A run fails. What was played is kept, and the same call resumes. With
            `keep_going` it is raised at the end, when the tables are written.
    """
    load(plugins)
    corpus, output = Corpus.of(corpus), Path(output)
    experiment = read_experiment(config, changes, retrievers, tables, agents, surveys, add)
    cells = make_grid(experiment, corpus, prepare=not keep_going)
    manifest = _manifest(experiment, cells, corpus)
    with output_directory(output, _KIND) as before:
        if before is None:
            write_json(output / _MANIFEST, manifest, sort_keys=False)
        name = experiment.name if before is None else before["config"].get("name")
        if name != experiment.name:
            raise CorpusError(
                f"{str(output)!r} contains the experiment {clip(name)}, this is "
                f"{clip(experiment.name)}. Name another directory."
            )
        failed = _play(experiment, cells, corpus, output, overwrite, keep_going)
        for name in _WRITTEN:  # tables of another configuration must not stand next to this one
            for path in output.glob(name):
                path.unlink()
        write_json(output / _MANIFEST, manifest, sort_keys=False)
        content = _write_tables(experiment, manifest, set(cells) - set(failed), corpus, output)
    if failed:
        name, error = next(iter(failed.items()))
        raise ArenaError(
            f"{len(failed)} of {count(len(cells), 'run')} failed, and the tables are "
            "without them. The "
            f"first, {name}: {error}"
        )
    return content


def preview(
    config: str | Path | Mapping[str, Any],
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    overwrite: bool = False,
    ask: bool = False,
    **choices: Any,
) -> list[Planned]:
    """Return the runs that `run_experiment` would make, in their order; write nothing.

    With `overwrite` nothing counts as played. Whether a run has the same settings is checked when
    it resumes. With `ask` the agents with a model play the unfinished runs in another place, to
    count requests; the judge, who reads finished runs, is not asked. `choices` are `tables`,
    `agents`, `surveys`, `retrievers`, `changes` and `add`.
    """
    corpus, output = Corpus.of(corpus), Path(output)
    experiment = read_experiment(config, **choices)
    grid = make_grid(experiment, corpus)
    planned, asking = [], dict[str, Cell]()
    for key, cell in grid.items():
        done, state = (0, "to do") if overwrite else cell.state(output)
        agent, retriever = cell.player.name, cell.config.retriever
        planned.append(Planned(key, agent, retriever, len(cell.surveys), done, state))
        if cell.asks and state != "done":
            asking |= {each: grid[each] for each in (cell.found, key) if each is not None}
    if ask:
        with tempfile.TemporaryDirectory() as place:
            _play(experiment, asking, corpus, Path(place), False, keep_going=True)
    return planned


def _manifest(experiment: Experiment, cells: Mapping[str, Cell], corpus: Corpus) -> dict[str, Any]:
    """Return the configuration as it was understood, without paths and hosts."""
    engines = {cell.column: cell.config.retriever for cell in cells.values()}
    config = {
        **experiment.model_dump(exclude={"llm", "judge", "retrievers", "budget", "tables"}),
        "retrievers": {label: engines.get(label, label) for label in experiment.retrievers},
        "tables": {
            name: table.model_dump(
                exclude=dict.fromkeys(("rows", "more"), _UNRECORDED), exclude_none=True
            )
            for name, table in experiment.tables.items()
        },
        "runs": {key: cell.record | {"surveys": cell.surveys} for key, cell in cells.items()},
    }
    sha256 = {"corpus": corpus.sha256, "tasks": TaskSet(corpus).sha256}
    return {
        "version": VERSION,
        "config": config,
        "sha256": {"config": sha256_json(config)} | sha256,
    }


def is_experiment(directory: str | Path) -> bool:
    """Return whether a directory contains an experiment."""
    return read_manifest_of(Path(directory), _KIND) is not None


def replay_experiment(
    directory: str | Path, corpus: Corpus | str | Path, tasks: str | Path | None = None
) -> Replay:
    """Replay the runs of an experiment, and make its tables and pages again, elsewhere.

    The report is as that of `arena.replay`; nothing is replayed after a run that is not equal. A
    judge's verdicts are those in the folders of the runs.
    """
    directory, corpus = Path(directory), Corpus.of(corpus, tasks)
    manifest = read_manifest_of(directory, _KIND)
    if manifest is None or manifest.get("version") != VERSION:
        raise CorpusError(
            f"{str(directory / _MANIFEST)!r} is of no experiment of this release. The `arena "
            "experiment` that wrote it makes it again."
        )
    episodes, steps, finished, remarks = 0, 0, set[str](), list[str]()
    for key in manifest["config"]["runs"]:
        if not (directory / key / TRAJECTORIES).is_file():
            remarks.append(f"{key}: not played.")
            continue
        report = replay(directory / key, corpus)
        episodes, steps = episodes + report.episodes, steps + report.steps
        remarks += [f"{key}: {remark}" for remark in report.remarks]
        if not report.equal:
            difference = report.difference and report.difference._replace(run=key)
            changed = [f"{key}/{name}" for name in report.changed]
            return Replay(episodes, steps, difference, changed, remarks)
        finished |= {key} if (directory / key / "metrics.json").is_file() else set()
    data = {name: value for name, value in manifest["config"].items() if name != RUNS}
    source = ConfigSource(data, repr(str(directory / _MANIFEST)), directory)
    experiment = source.check(Experiment)
    with tempfile.TemporaryDirectory() as place:
        again = Path(place)
        (again / RUNS).symlink_to((directory / RUNS).resolve())
        _write_tables(experiment, manifest, finished, corpus, again)
        made = sorted(path for path in again.iterdir() if path.suffix)
        files = {path: directory / path.name for path in made}
        changed = [
            old.name
            for new, old in files.items()
            if not old.is_file() or sha256_file(old) != sha256_file(new)
        ]
    remarks.append(
        f"{count(len(finished), 'finished run')}, from which "
        f"{count(len(made), 'file was', 'files were')} made again."
    )
    return Replay(episodes, steps, None, changed, remarks)


def _write_tables(
    experiment: Experiment,
    manifest: Mapping[str, Any],
    finished: Collection[str],
    corpus: Corpus,
    output: Path,
) -> dict[str, Any]:
    """Score the finished runs, and write tables and pages."""
    records = {
        key: {name: value for name, value in record.items() if name != "surveys"}
        for key, record in manifest["config"]["runs"].items()
    }
    played = {key: record for key, record in records.items() if key in finished}
    scores = score_runs(experiment, played, corpus, output)
    content = make_tables(experiment, records, scores, corpus, output, manifest["sha256"])
    _write_pages(output, corpus, played)
    return content


def _play(
    experiment: Experiment,
    cells: Mapping[str, Cell],
    corpus: Corpus,
    output: Path,
    overwrite: bool,
    keep_going: bool,
) -> dict[str, ArenaError]:
    """Play every run; return the errors of those that failed."""
    failed: dict[str, ArenaError] = {}
    for key, cell in progress(cells.items(), desc=experiment.name, unit="run"):
        try:
            if cell.found in failed:
                raise ArenaError(f"{cell.found}, which it begins with, failed.")
            found = {"found": str(output / cell.found)} if cell.found is not None else {}
            run(
                corpus,
                EnvConfig.of(cell.config, found),
                cell.agent,
                output / key,
                agent_options=cell.options,
                surveys=cell.surveys,
                seed=experiment.seed,
                overwrite=overwrite,
            )
        except ArenaError as error:
            if not keep_going:
                raise type(error)(f"{key}: {error}") from error
            failed[key] = error
    return failed


def _write_pages(output: Path, corpus: Corpus, finished: Mapping[str, Any]) -> None:
    """Compare the runs of every task with two or more, as a page and as LaTeX, with the first."""
    for task, runs in _by_task(finished).items():
        if len(runs) > 1:
            named = [f"{name}={output / key}" for name, key in runs.items()]
            comparison, name = compare(named), f"comparison-{slug(task)}"
            write_html(comparison, output / f"{name}.html", corpus)
            atomic_write(output / f"{name}.tex", as_latex(comparison))


def _by_task(records: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return task -> name of a run, made of its labels -> its directory."""
    by_task: dict[str, dict[str, str]] = {}
    for key, record in records.items():
        # The first "=" of NAME=DIR ends the name; "a, b" with "c" is not "a" with "b, c".
        name = f"{record['row']}, {record['column']}".replace("=", "-")
        runs = by_task.setdefault(record["task"], {})
        runs[key.split("/", 2)[2] if name in runs else name] = key
    return by_task


def compare_experiments(
    experiments: Sequence[str], metrics: Sequence[str] | None = None, **options: Any
) -> dict[str, Comparison]:
    """Compare the finished runs of experiments; return task -> comparison.

    Runs are named by their labels. Of several experiments each run is compared with the one of the
    first experiment that has the same task and labels; what has no counterpart is left out.

    Args:
        experiments: Directories that `run_experiment` wrote, each alone or as ``NAME=DIR``.
        metrics: Some of the runs' metrics; tasks without any of them are left out.
        options: Further arguments of `arena.compare`.
    """
    found: dict[str, dict[str, dict[str, Path]]] = {}  # task -> labels -> experiment -> run
    names: list[str] = []
    for given, directory in map(split_name, experiments):
        place = Path(directory)
        manifest = read_manifest_of(place, _KIND)
        names.append((given or place.resolve().name).replace("=", "-"))
        if manifest is None or names.count(names[-1]) > 1:
            why = "contains no experiment" if manifest is None else f"is a second {names[-1]!r}"
            raise CorpusError(f"{str(place)!r} {why}. Give experiments alone, as NAME=DIR.")
        for task, runs in _by_task(manifest["config"]["runs"]).items():
            for label, key in runs.items():
                if (place / key / "metrics.json").is_file():
                    found.setdefault(task, {}).setdefault(label, {})[names[-1]] = place / key
    compared = {}
    for task, cells in found.items():
        named, pairs = dict[str, Path](), list[tuple[str, str]]()
        for label, each in cells.items():
            if len(names) == 1:
                named[label] = each[names[0]]
            elif len(each) > 1 and names[0] in each:
                first, *others = (f"{label} ({name})" for name in each)
                named |= dict(zip([first, *others], each.values(), strict=True))
                pairs += [(other, first) for other in others]
        known = [read_json(run / "metrics.json")["mean"] for run in [*named.values()][:1]]
        chosen = [name for name in metrics or () if known and name in known[0]]
        if named and (chosen or not metrics):
            directories = [f"{name}={run}" for name, run in named.items()]
            compared[task] = compare(directories, metrics=chosen or None, pairs=pairs, **options)
    if not compared:
        raise DataError("the experiments have no finished runs of the same labels and metrics.")
    return compared
