"""Run the grid of an experiment; stop and go on at any time, same files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.settings.source import read_source
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.results.experiments._cells import Cell, State, state_of
from arena.results.experiments._comparisons import write_comparisons
from arena.results.experiments._layout import lay_out
from arena.results.experiments._output import (
    MANIFEST,
    clear,
    experiment_directory,
    manifest_of,
    write_tables,
)
from arena.results.experiments._overrides import changed, picked
from arena.results.experiments._reading import read_experiment
from arena.results.experiments._scores import described, score_cell, without
from arena.results.experiments.config import Experiment
from arena.results.experiments.grid import Grid, make_grid
from arena.runs import run
from arena.tasks import TaskSet


class Planned(NamedTuple):
    """A run that an experiment takes.

    Attributes:
        run: its directory, relative to the experiment.
        agent: its name.
        retriever: its name.
        episodes: how many it has.
        done: how many of them were played.
        state: ``done``, ``begun``, ``to do``, or ``another run``, which stands in its place.
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
    """Run agents with retrievers on a corpus, and lay the outcome out as tables.

    Each run is one of `arena.run`, in ``runs/TASK/ROW/RETRIEVER/`` of `output`. One that is
    finished is not played again, one that was interrupted goes on; the same arguments give the
    same files. docs/experiments.md describes the configuration and the files.

    Args:
        config: a YAML file such as configs/researcharena.yaml, or a mapping like one, in which an
            agent may be a class.
        corpus: a built corpus, or its directory.
        output: a new directory, or one with the same experiment begun.
        tables: names of the tables to make; by default all.
        agents: labels of rows or names of agents, to play and lay out these alone.
        surveys: ids, or how many; in place of those of the configuration.
        retrievers: label -> another retriever in its place.
        changes: key of the configuration, with dots, such as ``llm.model`` -> another value.
        overwrite: begin the runs anew.
        keep_going: play on when a run fails, and lay out the tables without it.

    Returns:
        The content of ``tables.json``.

    Raises:
        UnknownNameError: if a name is unknown; nothing was played.
        DataError: if the configuration cannot be used; nothing was played.
        CorpusError: if an index is missing, or `output` holds something else.
        ArenaError: if a run fails. What was played is kept, and the same call goes on. With
            `keep_going` it is raised at the end, when the tables are written.
    """
    corpus, output = Corpus.of(corpus), Path(output)
    experiment, grid = _prepared(
        config, corpus, tables, agents, surveys, retrievers, changes, prepare=not keep_going
    )
    hashes = {"corpus": corpus.sha256, "tasks": TaskSet(corpus.directory).sha256}
    manifest = manifest_of(experiment, grid.cells, hashes)
    with experiment_directory(output, manifest):
        states = _states(experiment, grid, corpus, output, overwrite)
        if overwrite:
            clear(output)  # of runs that will not be there
        failed = _play(experiment, grid, corpus, output, states, overwrite, keep_going)
        clear(output)  # tables of another configuration must not stand beside its name
        write_json(output / MANIFEST, manifest)
        found = _laid(experiment, grid, corpus, output, manifest, failed)
    if failed:
        first = next(iter(failed.items()))
        raise ArenaError(
            f"{len(failed)} of {len(grid.cells)} runs failed, and the tables are without them. The "
            f"first, {first[0]}: {first[1]}"
        )
    return found


def preview(
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
) -> list[Planned]:
    """Return the runs that `run_experiment` would make, in their order; write nothing.

    With `overwrite` nothing counts as played. Whether code was changed since a run is not looked
    at: that is found when the run goes on.

    Raises:
        ArenaError: as `run_experiment` before it plays.
    """
    corpus, output = Corpus.of(corpus), Path(output)
    experiment, grid = _prepared(config, corpus, tables, agents, surveys, retrievers, changes)
    planned = []
    for cell in grid.cells.values():
        state = state_of(output, cell, _same(experiment, corpus))
        state = State(0, False, ()) if overwrite else state
        told = "done" if state.finished else "begun" if state.done else "to do"
        planned.append(
            Planned(
                cell.directory, cell.name, cell.engine.retriever, len(cell.surveys), state.done,
                "another run" if state.differs else told,
            )
        )  # fmt: skip
    return planned


def _prepared(
    config: Any, corpus: Corpus, tables: Any, agents: Any, surveys: Any, retrievers: Any,
    changes: Any, prepare: bool = False,
) -> tuple[Experiment, Grid]:  # fmt: skip
    source = changed(read_source(config), changes or {}, retrievers or {})
    experiment = picked(read_experiment(source), tables, agents)
    if surveys is not None:
        if isinstance(surveys, str):
            raise DataError(f"surveys={clip(surveys)} is one string; give a list of ids.")
        given = surveys if isinstance(surveys, int) else list(surveys)
        experiment = experiment._replace(surveys=given)
    return experiment, make_grid(experiment, corpus, prepare)


def _same(experiment: Experiment, corpus: Corpus) -> dict[str, Any]:
    tasks = TaskSet(corpus.directory).sha256
    return {
        "seed": experiment.seed, "corpus": corpus.sha256, "tasks": tasks,
        "encoder": experiment.encoder, "budget": experiment.budget,
    }  # fmt: skip


def _states(
    experiment: Experiment, grid: Grid, corpus: Corpus, output: Path, overwrite: bool
) -> dict[str, State]:
    """Return how far each run is; refuse what stands in its place, before anything is changed."""
    same = _same(experiment, corpus)
    states = {key: state_of(output, cell, same) for key, cell in grid.cells.items()}
    for key, state in states.items():
        if state.differs and not overwrite:  # found now, and not after hours
            raise CorpusError(
                f"{str(output / key)!r} holds another run (it differs in "
                f"{', '.join(state.differs)}). Name another directory or pass --overwrite."
            )
    return states


def _play(
    experiment: Experiment,
    grid: Grid,
    corpus: Corpus,
    output: Path,
    states: Mapping[str, State],
    overwrite: bool,
    keep_going: bool,
) -> dict[str, ArenaError]:
    """Play every run; return those that failed."""
    failed: dict[str, ArenaError] = {}
    left = {
        key: max(0, len(cell.surveys) - (0 if overwrite else states[key].done))
        for key, cell in grid.cells.items()
    }
    total = sum(len(cell.surveys) for cell in grid.cells.values())
    begun = total - sum(left.values())  # not played now, and so no part of the rate
    with progress(total=total, initial=begun, desc=experiment.name, unit="episode") as bar:
        for key, cell in grid.cells.items():
            try:
                if cell.found in failed:
                    raise ArenaError(f"{cell.found}, which it begins with, failed.")
                _run(experiment, cell, corpus, output, overwrite)
            except ArenaError as error:
                if not keep_going:
                    raise type(error)(f"{key}: {error}") from error
                failed[key] = error
            bar.update(left[key])
    return failed


def _run(experiment: Experiment, cell: Cell, corpus: Corpus, output: Path, overwrite: bool) -> None:
    found = {} if cell.found is None else {"found": str(output / cell.found)}
    run(
        corpus,
        cell.task,
        cell.agent,
        output / cell.directory,
        retriever=cell.engine.retriever,
        retriever_options=cell.engine.options,
        retrievers=cell.retrievers,
        encoder=experiment.encoder,
        env_options=cell.env_options | found,
        agent_options=cell.options,
        budget=experiment.budget,
        surveys=cell.surveys,
        seed=experiment.seed,
        overwrite=overwrite,
    )


def _laid(
    experiment: Experiment,
    grid: Grid,
    corpus: Corpus,
    output: Path,
    manifest: dict[str, Any],
    failed: Mapping[str, ArenaError],
) -> dict[str, Any]:
    """Score what was played and write the tables."""
    scores = {}
    wanted: dict[str, dict[str, None]] = {}
    for table in experiment.tables:
        names = [grid.reported[table.name, heading] for heading in table.metrics]
        wanted.setdefault(table.task, {}).update(dict.fromkeys(names))
    possible = {task: without(names, experiment.extractor)[0] for task, names in wanted.items()}
    runs = {}
    for key, cell in grid.cells.items():
        if key not in failed and cell.task in possible:
            scores[key] = score_cell(experiment, cell, output, corpus, possible[cell.task])
            runs[key] = cell.told() | scores[key]
    used = {cell.column for cell in grid.cells.values()}
    engines = {
        label: described(corpus, engine.retriever)
        for label, engine in experiment.retrievers.items()
        if label in used
    }
    tables = [lay_out(experiment, grid, table, scores, engines) for table in experiment.tables]
    found = write_tables(output, experiment, manifest, tables, runs)
    write_comparisons(output, corpus, (grid.cells[key] for key in scores))
    return found
