"""Run an agent over the surveys of a corpus; it can stop and continue at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from arena import __version__
from arena._internal.files import code_sha256, sha256_file, sha256_json, write_json
from arena._internal.options import whole
from arena._internal.tables import progress
from arena.agents import Agent
from arena.corpus import Corpus
from arena.errors import DataError, NoLabelsError, clip
from arena.runs import environment
from arena.runs.directory import FOUND_FILE, MANIFEST, MANIFEST_VERSION, run_directory, timing
from arena.runs.episodes import Player
from arena.runs.processes import play_episodes
from arena.runs.results import write_results
from arena.runs.scoring import Scorer, checked_metrics
from arena.runs.trajectories import TRAJECTORIES, VERSION, append, keep_complete, plain
from arena.tasks import (
    ENCODER,
    TASKS,
    TaskSet,
    budget_of,
    can_score,
    choose_surveys,
    kinds_of_answers,
    play_order,
    scored_stages,
    with_topic,
)


def run(
    corpus: Corpus | str | Path,
    task: str,
    agent: str | type[Agent],
    output: str | Path,
    *,
    retriever: str = "bm25",
    retriever_options: Mapping[str, Any] | None = None,
    retrievers: Sequence[str] = (),
    reward: str | None = None,
    reward_options: Mapping[str, Any] | None = None,
    encoder: str = ENCODER,
    env_options: Mapping[str, Any] | None = None,
    agent_options: dict[str, Any] | None = None,
    budget: Mapping[str, int] | None = None,
    surveys: Sequence[str] | int | None = None,
    tasks: str | Path | None = None,
    metrics: Sequence[str] = (),
    seed: int = 0,
    jobs: int = 1,
    isolate: bool = False,
    timed: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Play one episode of `task` for each survey and write a scored run.

    Episodes are played in order of their cutoffs. Writes ``trajectories.jsonl``,
    ``metrics.json``, ``manifest.json`` and the answers into `output`; docs/runs.md describes them.
    The same arguments give the same bytes. A run that was interrupted continues after its last
    complete episode.

    Args:
        corpus: A built corpus, or its directory.
        task: A registered task.
        agent: A registered agent, a subclass of `arena.Agent`, or ``"oracle"``, which knows the
            labels.
        output: A new directory, or one in which the same run was begun.
        retriever: Engine behind ``search``: an index of the corpus, or a combination such as
            ``"hybrid(bm25,dense)"``.
        retriever_options: Options of that engine; see `Corpus.retriever`.
        retrievers: Further engines that a ``search`` may name.
        reward: A registered reward, or a sum such as ``"gain+cost"``; by default the task's.
        reward_options: Name of a reward -> its options.
        encoder: Encoder by which headings and titles are compared.
        env_options: Further arguments of the environment, such as ``references`` and ``found`` of
            organization.
        agent_options: Keyword arguments for the agent.
        budget: Any of ``max_steps``, ``max_searches``, ``max_reads``, ``max_characters``,
            ``max_k`` and, where a report is due, ``max_written`` of the environment.
        surveys: Ids of surveys, or how many of the corpus' surveys in order; by default all. For a
            task with a mind-map, a number and the default count only surveys that have one.
        tasks: Directory that ``arena-corpus tasks`` wrote: its papers are played in place of the
            corpus' surveys.
        metrics: Metrics to report besides those of the task, as `rescore` takes them.
        seed: Makes each episode's own seed, together with its place in the run.
        jobs: Number of episodes that are played at once, each in a process; the files are the
            same.
        isolate: Play each episode in a new process, so that the agent's code keeps nothing.
        timed: Write the seconds that the run takes into ``timing.json``, the only file of a run
            with a clock in it.
        overwrite: Begin anew if `output` holds a run.

    Returns:
        The content of ``metrics.json``.

    Raises:
        UnknownNameError: A name is unknown.
        DataError: An option or a number is out of its range.
        CorpusError: `output` holds something else, or the corpus is damaged.
        AgentError: The agent fails; the episodes before it are kept.
        ArenaError: Another process writes `output`.
    """
    if not isinstance(output, str | Path):
        raise DataError(f"output={clip(output)}: give a directory.")
    corpus = Corpus.of(corpus, tasks)
    task = TASKS.resolve(task)
    TASKS.get(task)  # an unknown name is reported before anything is opened
    metrics = checked_metrics(metrics) if metrics else []
    scored_stages(task, metrics)
    task_set = TaskSet(corpus)
    agent_options = agent_options or {}
    whole("jobs", jobs, 1)
    whole("seed", seed, 0)
    arguments = environment.arguments_of(
        task,
        retriever=retriever,
        retriever_options=retriever_options,
        retrievers=retrievers,
        reward=reward,
        reward_options=reward_options,
        encoder=encoder,
        env_options=env_options,
        budget=budget,
        metrics=metrics,
    )
    prompt = arguments.get("prompt") or "title"
    chosen = play_order(task_set, _choose(task, task_set, surveys, prompt))
    starting_papers = None
    if arguments.get(environment.FOUND) is not None and environment.takes_found(task):
        starting_papers = environment.papers_of_run(arguments, corpus, task_set, chosen)
        arguments[environment.FOUND] = starting_papers
    player = Player(corpus, task, agent, agent_options, arguments, chosen, seed)
    player.agents.prepare()
    manifest = _manifest(player, task, corpus, task_set, arguments, agent_options)
    if metrics:
        scorer = Scorer(task, task_set, metrics, encoder=encoder)
        manifest["metrics"] = {"names": metrics, "code": scorer.code_sha256()}
    output = Path(output)
    with run_directory(output, manifest, overwrite), closing(player.env):
        if starting_papers is not None:
            write_json(output / FOUND_FILE, starting_papers)
        same = {"version": VERSION, **{key: manifest[key] for key in ("arena", "task", "sha256")}}
        path = output / TRAJECTORIES
        rest = range(keep_complete(path, chosen, same), len(chosen))
        records = play_episodes(player, rest, jobs, isolate)
        bar = progress(records, total=len(rest), desc=f"{task} {player.agents.name}", unit="survey")
        clock = timing(output, len(rest) < len(chosen)) if timed and rest else nullcontext()
        with clock, path.open("ab", buffering=0) as file, closing(records):
            for record in bar:
                append(file, same | record)
        summary, names = write_results(output, manifest, task_set)
        files = {name: sha256_file(output / name) for name in names}
        write_json(output / MANIFEST, manifest | {"files": files})
        return summary


def _choose(
    task: str, tasks: TaskSet, surveys: Sequence[str] | int | None, prompt: str
) -> list[str]:
    """Return ids of surveys; by default those that have the prompt and the mind-map needed."""
    counted = with_topic(tasks, prompt)
    if "mind_map" in kinds_of_answers(task) and (surveys is None or isinstance(surveys, int)):
        counted = [survey_id for survey_id in counted if can_score(task, tasks, survey_id)]
        if not counted:
            raise NoLabelsError(
                f"no survey of this corpus has a mind-map, which the task {task!r} needs. Name "
                "surveys to play them without a score."
            )
    return choose_surveys(tasks, surveys, counted)


def _manifest(
    player: Player,
    task: str,
    corpus: Corpus,
    tasks: TaskSet,
    arguments: Mapping[str, Any],
    agent_options: dict[str, Any],
) -> dict[str, Any]:
    """Return what tells this run from others, as its manifest has it."""
    env, factory, limits = player.env, player.agents, budget_of(task)
    try:
        options = plain(agent_options)
    except (TypeError, ValueError) as error:
        raise DataError(f"the agent's options must be what JSON can hold: {error}.") from None
    manifest: dict[str, Any] = plain(
        {
            "version": MANIFEST_VERSION,
            "arena": __version__,
            "task": task,
            "definition": environment.definition_of(task),
            "agent": factory.name,
            "agent_options": {n: options[n] for n in options if n not in factory.kind.unrecorded},
            "environment": environment.recorded(
                {key: arguments[key] for key in arguments if key not in limits}
            ),
            "budget": {key: arguments[key] for key in limits},
            "retriever": arguments["retriever"],
            "retriever_options": environment.engine_of(corpus, arguments).config,
            "encoder": environment.encoder_of(arguments),
            "seed": player.seed,
            "surveys": player.surveys,
            **({"tasks": tasks.options} if tasks.options else {}),
            "sha256": environment.hashes(env, corpus, tasks, arguments)
            | {
                "prompts": sha256_json(factory.prompts) if factory.prompts else None,
                "code": code_sha256(factory.kind, *environment.code_of(env, corpus, arguments)),
            },
        }
    )
    return manifest
