"""Run an agent over the surveys of a corpus; stop and go on at any time, same files."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from arena import metrics, trec
from arena._code import code_sha256
from arena._files import atomic_write, sha256_file, sha256_json, write_json
from arena._progress import progress
from arena.agents import Agent
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError, DataError, clip, did_you_mean
from arena.retrieval._names import classes, parse_name
from arena.runs.directory import MANIFEST, RESULTS, run_directory
from arena.runs.episodes import make_environment, play
from arena.runs.players import players
from arena.runs.summary import summarize
from arena.runs.trajectories import Trajectories
from arena.tasks import DEFAULT_BUDGET, TASKS, TaskSet, choose_surveys

_VERSION = 1


def run(
    corpus: Corpus | str | Path,
    task: str,
    agent: str | type[Agent],
    output: str | Path,
    *,
    retriever: str = "bm25",
    retriever_options: dict[str, Any] | None = None,
    agent_options: dict[str, Any] | None = None,
    budget: dict[str, int] | None = None,
    surveys: Sequence[str] | int | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Play one episode of `task` for each survey and write a scored run.

    Writes ``run.trec``, ``qrels.trec``, ``metrics.json``, ``trajectories.jsonl`` and
    ``manifest.json`` into `output`; docs/runs.md describes them. The same arguments give the
    same bytes. A run that was interrupted goes on after its last complete episode.

    Args:
        corpus: a built corpus, or its directory.
        task: a registered task.
        agent: a registered agent, a subclass of `arena.Agent`, or ``"oracle"``, which knows the
            labels.
        output: a new directory, or one with the same run begun.
        retriever: the engine behind ``search``: an index of the corpus, or a combination such as
            ``"hybrid(bm25,dense)"``.
        retriever_options: options of that engine; see `Corpus.retriever`.
        agent_options: keyword arguments for the agent.
        budget: any of ``max_steps``, ``max_searches`` and ``max_k`` of the environment.
        surveys: ids, or how many of the corpus' surveys in order; by default all.
        seed: makes each episode's own seed, together with the survey's id.
        overwrite: begin anew if `output` holds a run.

    Returns:
        The content of ``metrics.json``.

    Raises:
        UnknownNameError: if a name is unknown.
        DataError: if an option or a number is out of its range.
        CorpusError: if `output` holds something else, or the corpus is damaged.
        ArenaError: if another process writes `output`, or the agent fails; the episodes played so
            far are kept.
    """
    corpus = corpus if isinstance(corpus, Corpus) else Corpus.open(corpus)
    specification = TASKS.get(task)
    tasks = TaskSet(corpus.directory)
    chosen = choose_surveys(tasks, surveys)
    agent_options = agent_options or {}
    team = players(agent, agent_options, tasks)
    for name in budget or {}:
        if name not in DEFAULT_BUDGET:
            raise DataError(f"no limit {clip(name)}.{did_you_mean(name, DEFAULT_BUDGET)}")
    budget = DEFAULT_BUDGET | (budget or {})
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise DataError(f"seed={clip(seed)}: give an integer >= 0.")
    engine = corpus.retriever(retriever, **(retriever_options or {}))
    prompts = team.kind.prompts()
    measures = [metrics.parse(name)[0] for name in specification.metrics]
    manifest = {
        "version": _VERSION,
        "task": task,
        "definition": specification._asdict() | {"metrics": list(specification.metrics)},
        "agent": team.name,
        "agent_options": agent_options,
        "budget": budget,
        "retriever": str(parse_name(retriever)),
        "retriever_options": engine.config,
        "seed": seed,
        "surveys": chosen,
        "sha256": {
            "corpus": corpus.sha256,
            "index": corpus.index_sha256(retriever),
            "tasks": tasks.sha256,
            "prompts": sha256_json(prompts) if prompts else None,
            "code": code_sha256(team.kind, *classes(engine), *measures),
        },
    }
    env = make_environment(
        specification,
        corpus=corpus,
        retriever=retriever,
        retriever_options=retriever_options,
        surveys=chosen,
        **budget,
    )
    output = Path(output)
    with run_directory(output, manifest, overwrite), closing(env):
        trajectories = Trajectories(output / "trajectories.jsonl")
        trajectories.keep(chosen)
        rest = [survey_id for survey_id in chosen if survey_id not in trajectories.done]
        with trajectories:
            for survey_id in progress(rest, desc=f"{task} {team.name}", unit="survey"):
                episode_seed = _episode_seed(seed, survey_id)
                try:
                    player = team.make(survey_id, episode_seed)
                    record = play(env, player, survey_id, episode_seed)
                except CorpusError:
                    raise
                except Exception as error:
                    raise ArenaError(
                        f"agent {team.name!r} failed on survey {survey_id!r}: "
                        f"{type(error).__name__}: {clip(str(error), 200)} ({_place(error)}). The "
                        "episodes before it are kept; the same command goes on from here."
                    ) from error
                trajectories.append(record)
        return _finish(output, manifest, specification, tasks, trajectories)


def _finish(
    output: Path,
    manifest: dict[str, Any],
    specification: Any,
    tasks: TaskSet,
    trajectories: Trajectories,
) -> dict[str, Any]:
    records = trajectories.read()
    rankings = {record["survey"]: record["submitted"] for record in records}
    summary = summarize(specification, tasks, rankings)
    for record in records:
        entry = summary["per_survey"][record["survey"]]
        entry |= {key: record[key] for key in ("searches", "truncated")}
        entry["steps"] = len(record["steps"])
    summary |= {key: manifest[key] for key in ("task", "agent", "retriever", "seed", "sha256")}
    qrels = {s: gains for s in rankings if (gains := tasks.gold(s).gains)}
    trec.write_run(output / "run.trec", rankings, manifest["agent"])
    if qrels:
        trec.write_qrels(output / "qrels.trec", qrels)
    else:  # no survey can be scored; the file is there all the same
        atomic_write(output / "qrels.trec", b"")
    write_json(output / "metrics.json", summary)
    files = {name: sha256_file(output / name) for name in RESULTS}
    write_json(output / MANIFEST, manifest | {"files": files})
    return summary


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name} line {frame.lineno}"


def _episode_seed(seed: int, survey_id: str) -> int:
    """Return a seed that does not depend on which other surveys are played."""
    digest = hashlib.sha256(f"{seed} {survey_id}".encode()).digest()
    return int.from_bytes(digest[:4], "little")
