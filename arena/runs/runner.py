"""Run an agent over the topics of a corpus and write its results; a run can stop and resume."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge

from arena import monitoring, trec
from arena.agents import Agent
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import DataError, NoLabelsError
from arena.executors import EXECUTORS, make_executor
from arena.kit.code import code_sha256, local_files
from arena.kit.files import sha256_file, sha256_json, write_json
from arena.kit.options import checked
from arena.kit.terminal import progress
from arena.metrics import ENCODER, Metric, mean
from arena.mindmap import identity
from arena.plugins import load
from arena.runs import environment
from arena.runs.directory import (
    FOUND_FILE,
    MACHINE,
    MANIFEST,
    MANIFEST_VERSION,
    run_directory,
    timing,
)
from arena.runs.episodes import Player, play_elsewhere, play_episodes
from arena.runs.repeats import read_success
from arena.runs.scoring import Scorer, checked_metrics, merged
from arena.runs.trajectories import (
    TRAJECTORIES,
    VERSION,
    append,
    keep_complete,
    plain,
    read_episodes,
)
from arena.tasks import FrozenTopics, Task, TaskSet, choose_topics, play_order, with_text
from arena.version import __version__

PARALLEL = 8
"""Episodes at once by default, of agents that wait for a model."""


@checked
def run(
    corpus: Corpus | str | Path,
    task: EnvConfig | str,
    agent: str | type[Agent],
    output: str | Path,
    *,
    agent_options: dict[str, Any] | None = None,
    topics: Sequence[str] | int | None = None,
    tasks: str | Path | None = None,
    metrics: Sequence[str] = (),
    plugins: Sequence[str | Path] = (),
    seed: Annotated[int, Ge(0)] = 0,
    repeats: Annotated[int, Ge(1)] = 1,
    success: str | None = None,
    jobs: Annotated[int, Ge(1)] = 1,
    parallel: Annotated[int, Ge(1)] | None = None,
    isolate: bool = False,
    executor: str = "local",
    timed: bool = False,
    overwrite: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Play one episode of `task` for each topic and write a scored run.

    Episodes are played in order of their cutoffs. Writes ``trajectories.jsonl``,
    ``metrics.json``, ``manifest.json`` and the answers into `output`; docs/runs.md describes them.
    The same arguments give the same bytes. A run that was interrupted continues after its last
    complete episode.

    Args:
        corpus: A built corpus, or its directory.
        task: A registered task, or an `EnvConfig`.
        agent: A registered agent, a subclass of `arena.Agent`, or ``"oracle"``, which knows the
            labels.
        output: A new directory, or one in which the same run was begun.
        agent_options: Keyword arguments for the agent.
        topics: Ids of topics, or how many of the corpus' topics in order; by default all. For a
            task with a mind-map, a number and the default count only topics that have one.
            The run records the name of `arena.tasks.FrozenTopics`.
        tasks: Directory that ``arena-corpus tasks`` wrote: its papers are played in place of the
            corpus' topics.
        metrics: Metrics to report besides those of the task, as `rescore` takes them.
        plugins: Files of plug-ins to load first, see `arena.plugins`.
        seed: Makes each episode's own seed, together with its place in the run; with repeats,
            together with topic and repeat.
        repeats: Episodes of each topic; metrics are then their means, see `repeats.merge`.
        success: What a successful episode reaches, such as ``recall@100>=.3``, for ``pass@k``.
        jobs: Number of episodes that are played at once, each in a process, for agents that
            compute; the files are the same.
        parallel: Number of episodes that are played at once in threads of this process, for agents
            that wait for a model; the files are the same. By default `PARALLEL` where an agent
            says that it waits, else 1.
        isolate: Play each episode in a new process, so that the agent's code keeps nothing.
        executor: Where episodes are played: ``"local"``, or ``"ray"`` for the machines of a Ray
            cluster, which must see the corpus; `jobs` at once, by default one a processor. The
            files are the same.
        timed: Write the seconds that the run takes into ``timing.json``, the only file of a run
            with a clock in it.
        overwrite: Start from scratch if `output` contains a run.
        settings: Settings of `EnvConfig` by name, such as ``retriever``, ``reward`` or
            ``max_steps``.

    Returns:
        The content of ``metrics.json``.
    """
    load(plugins)
    monitoring.start()
    config = EnvConfig.from_settings(task, settings)
    if config.reward_objects:
        raise DataError(
            f"reward: {', '.join(config.reward_objects)} is an object, and a run records names, by "
            "which it is replayed. Register the class with @reward and give its name, and its "
            "arguments as reward_options."
        )
    if config.sampler is not None:
        raise DataError(f"sampler={config.sampler!r}: a run plays every topic, and draws none.")
    corpus = Corpus.resolve(corpus, tasks)
    besides = checked_metrics(metrics or None, config.resolved_task) or []
    task_set = TaskSet(corpus, config.references, config.since)
    played = config.resolved_task.on(task_set)
    agent_options = agent_options or {}
    prompt = config.prompt or "title"
    chosen = play_order(task_set, _choose(played, task_set, topics, prompt))
    starting_papers = None
    if config.start_from is not None:
        starting_papers = environment.papers_of_run(config, corpus, task_set, chosen)
        config = config.model_copy(update={"start_from": starting_papers})
    if success is not None:
        if repeats == 1:
            raise DataError("success counts the episodes of one topic: give repeats > 1, too.")
        read_success(success, Scorer(played, task_set, besides=besides).metrics)
    player = Player(corpus, config, agent, agent_options, chosen, seed, repeats)
    executor = EXECUTORS.resolve(executor)
    elsewhere = EXECUTORS.get(executor).remote
    if (jobs > 1 or isolate or elsewhere) and (parallel or 1) > 1:
        raise DataError(
            "parallel episodes share a process: give parallel, or jobs, isolate or executor."
        )
    if elsewhere and isolate:
        raise DataError(f"isolate plays on this machine: give it or executor={executor!r}.")
    if parallel is None:
        waits = player.agents.kind.waits and jobs == 1 and not isolate and not elsewhere
        parallel = PARALLEL if waits else 1
    player.agents.prepare()
    manifest = _manifest(player, played, corpus, task_set, besides, agent_options)
    manifest |= {"repeats": repeats} if repeats > 1 else {}
    if topics is None and (left_out := len(with_text(task_set, prompt)) - len(chosen)):
        manifest["left_out"] = left_out
    manifest |= {"task_set": topics.identity} if isinstance(topics, FrozenTopics) else {}
    manifest |= {"success": success} if success is not None else {}
    if besides:
        scorer = Scorer(played, task_set, besides, encoder=config.encoder)
        names = [metric.name for metric in besides]
        manifest["metrics"] = {"names": names, "code": scorer.code_sha256()}
    output = Path(output)
    with run_directory(output, manifest, overwrite), closing(player.env):
        if starting_papers is not None:
            write_json(output / FOUND_FILE, starting_papers)
        same = {"version": VERSION, **{key: manifest[key] for key in ("arena", "task", "sha256")}}
        path = output / TRAJECTORIES
        total = len(chosen) * repeats
        rest = range(keep_complete(path, chosen, same, played, repeats), total)
        if elsewhere:
            pool = make_executor(executor, jobs if jobs > 1 else None)
            records = play_elsewhere(player, rest, pool)
        else:
            records = play_episodes(player, rest, jobs, isolate, parallel)
        bar = progress(
            records,
            total=len(rest),
            desc=f"{played.name} {player.agents.name}",
            unit=task_set.unit if repeats == 1 else "episode",
        )
        clock = timing(output, len(rest) < total) if timed and rest else nullcontext()
        if rest:
            write_json(output / MACHINE, environment.machine())
        with clock, path.open("ab", buffering=0) as file, closing(records):
            for record in bar:
                append(file, same | record)
        summary, files_written = write_results(output, manifest, played, besides, task_set)
        files = {name: sha256_file(output / name) for name in files_written}
        write_json(output / MANIFEST, manifest | {"files": files})
        return summary | {"unseen": mean(r["unseen"] for r in summary["per_topic"].values())}


def _choose(
    task: Task, tasks: TaskSet, topics: Sequence[str] | int | None, prompt: str
) -> list[str]:
    """Return ids of topics; by default those that have the prompt and the labels needed.

    Topics without a reference in reach are played, too, as far as the labels are references.
    """
    counted = with_text(tasks, prompt)
    drawn = any(kind.draws_labelled for kind in task.kinds)
    if drawn and (topics is None or isinstance(topics, int | str)):
        counted = [topic_id for topic_id in counted if task.can_score(tasks, topic_id)]
        if not counted:
            raise NoLabelsError(
                f"no topic of this corpus has {task.lacking(tasks)}, which the task {task.name!r} "
                "needs. Name topics to play them without a score."
            )
    return choose_topics(tasks, topics, counted)


def _manifest(
    player: Player,
    task: Task,
    corpus: Corpus,
    tasks: TaskSet,
    metrics: Sequence[Metric],
    agent_options: dict[str, Any],
) -> dict[str, Any]:
    """Return what distinguishes this run from others, for its manifest."""
    env, factory, config = player.env, player.agents, player.config
    engine = corpus.retriever(config.retriever, **config.retriever_options)
    encoder = environment.encoder_of(config, metrics)
    used = environment.resolved(env, corpus, encoder)
    plugins = environment.plugins_of([
        *used,
        ("agent", factory.name, factory.kind),
        *(("metric", metric.name.partition("@")[0], metric.score) for metric in metrics),
    ])  # fmt: skip
    try:
        options = plain(agent_options)
    except (TypeError, ValueError) as error:
        raise DataError(f"the agent's options must be JSON values: {error}.") from None
    manifest: dict[str, Any] = plain(
        {
            "version": MANIFEST_VERSION,
            "arena": __version__,
            "task": config.task,
            "definition": task.definition(),
            "agent": factory.name,
            "agent_options": {n: options[n] for n in options if n not in factory.kind.unrecorded},
            "environment": environment.recorded(config, encoder),
            "budget": config.limits,
            "retriever": config.retriever,
            "retriever_options": engine.config,
            "encoder": encoder and identity(encoder),
            "seed": player.seed,
            "topics": player.topics,
            **({"tasks": tasks.options} if tasks.options else {}),
            **({"undated": True} if tasks.undated else {}),
            **({"plugins": plugins} if plugins else {}),
            **({"agent_files": files} if (files := local_files(factory.kind)) else {}),
            "sha256": environment.hashes(env, corpus, tasks, encoder)
            | {
                "prompts": sha256_json(factory.prompts) if factory.prompts else None,
                "code": code_sha256("arena.runs", factory.kind, *(item for _, _, item in used)),
            },
        }
    )
    return manifest


def write_results(
    output: Path, manifest: dict[str, Any], task: Task, besides: Sequence[Metric], tasks: TaskSet
) -> tuple[dict[str, Any], list[str]]:
    """Write the answers and ``metrics.json``; return the metrics and the names of all files."""
    encoder = manifest["environment"].get("encoder") or ENCODER
    scorer = Scorer(task, tasks, besides=besides, encoder=encoder)
    records = sorted(read_episodes(output / TRAJECTORIES), key=itemgetter("topic_id"))
    summary, (answers, *_) = merged(scorer, manifest, records, stated=True)
    summary |= {key: manifest[key] for key in ("task", "agent", "retriever", "seed", "sha256")}
    summary |= {key: manifest[key] for key in ("left_out", "task_set") if key in manifest}
    names = list[str]()
    for stage in task.stages:  # the files have the answers of the first repeat
        of_stage = {s: each[stage.name] for s, each in answers.items() if stage.name in each}
        suffix = "" if len(task.stages) == 1 else f".{stage.name}"
        names += stage.answer.write(output, suffix, of_stage, manifest["agent"], tasks)
    if any(name.endswith(".trec") for name in names):
        names.append("qrels.trec")
        qrels = {topic_id: tasks.gold(topic_id).gains for topic_id in answers}
        trec.write_qrels(output / names[-1], qrels)
    write_json(output / "metrics.json", summary)
    return summary, [*names, "metrics.json", TRAJECTORIES]
