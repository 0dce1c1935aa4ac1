"""Run a grid of agents and retrievers, and lay the scores out as tables such as the paper's.

>>> from arena_suites.experiments import run_experiment
>>> run_experiment("researcharena", "demo/synthetic", "runs/paper",
...                      agents=["title", "random"])  # doctest: +SKIP
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import ArenaError, CorpusError, clip
from arena.kit.files import sha256_json, write_json
from arena.kit.terminal import progress
from arena.kit.workdir import OutputKind, output_directory
from arena.plugins import load
from arena.runs import run
from arena.tasks import FrozenTopics, TaskSet
from arena_suites.experiments.config import Experiment, read_experiment
from arena_suites.experiments.grid import Cell, make_grid
from arena_suites.experiments.scores import score_runs
from arena_suites.experiments.tables import make_tables, printed

__all__ = ["Experiment", "PlannedRun", "preview", "printed", "read_experiment", "run_experiment"]

VERSION = 2
_MANIFEST = "experiment.json"
_WRITTEN = ("tables.*", "appendix.tex", "figure-*")
_UNRECORDED = {"__all__": {"options", "env_options", "start_from"}}  # see the runs
_KIND = OutputKind("experiment", _MANIFEST, {"config": dict, "sha256": dict})


class PlannedRun(NamedTuple):
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
    topics: Sequence[str] | int | None = None,
    changes: Mapping[str, Any] | None = None,
    add: Mapping[str, Any] | None = None,
    overwrite: bool = False,
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
        topics: Ids, or how many; in place of those of the configuration. A run that plays all of
            `arena.tasks.FrozenTopics` records their name, and so does the experiment.
        changes: Key of the configuration, with dots, such as ``llm.model`` or
            ``retrievers.Dense`` -> another value.
        add: Label -> an agent, which becomes a row of every table.
        overwrite: Play the runs from scratch.
        plugins: Files of plug-ins to load first, see `arena.plugins`.

    Returns:
        The content of ``tables.json``.

    Raises:
        UnknownNameError: A name is unknown; nothing was played.
        DataError: The configuration cannot be used; nothing was played.
        CorpusError: An index is missing, or `output` contains something else.
        ArenaError: A run fails. What was played is kept, and the same call resumes.
    """
    load(plugins)
    corpus, output = Corpus.resolve(corpus), Path(output)
    experiment = read_experiment(config, changes, tables, agents, topics, add)
    cells = make_grid(experiment, corpus, prepare=True)
    manifest = _manifest(experiment, cells, corpus)
    frozen = topics if isinstance(topics, FrozenTopics) else None
    if frozen is not None:
        frozen.check(TaskSet(corpus).identity)
        manifest["task_set"] = frozen.identity
        manifest["sha256"][f"topics {frozen.identity['name']}"] = frozen.identity["sha256"]
    with output_directory(output, _KIND) as before:
        if before is None:
            write_json(output / _MANIFEST, manifest, sort_keys=False)
        name = experiment.name if before is None else before["config"].get("name")
        if name != experiment.name:
            raise CorpusError(
                f"{str(output)!r} contains the experiment {clip(name)}, this is "
                f"{clip(experiment.name)}. Name another directory."
            )
        _play(experiment, cells, corpus, output, overwrite, frozen)
        for pattern in _WRITTEN:  # what another configuration made must not stand next to this
            for path in output.glob(pattern):
                path.unlink()
        write_json(output / _MANIFEST, manifest, sort_keys=False)
        records = {key: cell.record for key, cell in cells.items()}
        scored = score_runs(experiment, records, corpus, output)
        return make_tables(experiment, records, scored, corpus, output, manifest["sha256"])


def preview(
    config: str | Path | Mapping[str, Any],
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    overwrite: bool = False,
    ask: bool = False,
    **choices: Any,
) -> list[PlannedRun]:
    """Return the runs that `run_experiment` would make, in their order; write nothing.

    With `overwrite` nothing counts as played. Whether a run has the same settings is checked when
    it resumes. With `ask` the agents with a model play the unfinished runs in another place, to
    count requests; the judge, who reads finished runs, is not asked. `choices` are `tables`,
    `agents`, `topics`, `changes` and `add`.
    """
    corpus, output = Corpus.resolve(corpus), Path(output)
    experiment = read_experiment(config, **choices)
    grid = make_grid(experiment, corpus)
    planned, asking = [], dict[str, Cell]()
    for key, cell in grid.items():
        done, state = (0, "to do") if overwrite else cell.state(output)
        agent, retriever = cell.player.name, cell.config.retriever
        planned.append(PlannedRun(key, agent, retriever, len(cell.topics), done, state))
        if cell.asks and state != "done":
            asking |= {each: grid[each] for each in (cell.start_from, key) if each is not None}
    if ask:
        with tempfile.TemporaryDirectory() as place:
            _play(experiment, asking, corpus, Path(place), False)
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
        "runs": {key: cell.record | {"topics": cell.topics} for key, cell in cells.items()},
    }
    sha256 = {"corpus": corpus.sha256, "tasks": TaskSet(corpus).sha256}
    return {
        "version": VERSION,
        "config": config,
        "sha256": {"config": sha256_json(config)} | sha256,
    }


def _play(
    experiment: Experiment,
    cells: Mapping[str, Cell],
    corpus: Corpus,
    output: Path,
    overwrite: bool,
    frozen: FrozenTopics | None = None,
) -> None:
    """Play every run; an error says which run failed."""
    for key, cell in progress(cells.items(), desc=experiment.name, unit="run"):
        whole = frozen is not None and {*frozen} == {*cell.topics}
        found = {"start_from": str(output / cell.start_from)} if cell.start_from is not None else {}
        try:
            run(
                corpus,
                EnvConfig.from_settings(cell.config, found),
                cell.agent,
                output / key,
                agent_options=cell.options,
                topics=frozen if whole else cell.topics,
                seed=experiment.seed,
                overwrite=overwrite,
            )
        except ArenaError as error:
            raise type(error)(f"{key}: {error}") from error
