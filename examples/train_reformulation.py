"""Train an agent on made-up worlds to choose its queries, and test it on worlds it has not seen.

python examples/train_reformulation.py --output runs/reformulation

docs/training.md describes what is learned and the results. Needs pip install torch matplotlib.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import multiprocessing
import queue
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from reformulation.agent import Policy, Reformulation
from reformulation.report import describe, mean_over, paired, svg

import arena
from arena._internal.cores import cores
from arena._internal.files import atomic_write, write_json
from arena._internal.progress import progress
from arena._internal.signals import block_sigint_in_children
from arena.cli.app import Parser, print_json, print_table, run_command
from arena.errors import CorpusError, DataError
from corpus_builder.build import build
from corpus_builder.paper_tasks import write_paper_tasks
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

NEEDED = ("torch", "scipy", "matplotlib")
HARDER = 0.9
"""Synonymy of the harder worlds; it is 0.5 by default."""


class Plan(NamedTuple):
    """How much is done; worlds are named by their seeds."""

    train: tuple[int, ...] = tuple(range(1001, 1009))
    test: tuple[int, ...] = tuple(range(2001, 2005))
    harder: tuple[int, ...] = (3001, 3002)
    papers: int = 3000
    train_surveys: int = 60
    test_surveys: int = 30
    episodes: int = 1600
    points: int = 10
    """Of the learning curve, besides the first."""


FULL = Plan()
QUICK = Plan((1001, 1002), (7,), (), 300, train_surveys=6, test_surveys=6, episodes=64, points=2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="directory for all files, worlds included"
    )
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument(
        "--episodes", type=int, metavar="N", help=f"of training, default: {FULL.episodes}"
    )
    parser.add_argument(
        "--tasks", choices=("surveys", "papers"), default="surveys",
        help="what to train on: surveys of the worlds, or papers from before the first of them",
    )  # fmt: skip
    parser.add_argument(
        "--beside", metavar="DIR", help="output of another training with the same tests to compare"
    )
    parser.add_argument("--quick", action="store_true", help="tiny worlds, to see that it runs")
    parser.add_argument(
        "--real", metavar="CORPUS", help="a built corpus of real papers to test on as well"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> None:
    """Build the worlds, train, test, write and print."""
    started = time.monotonic()
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise DataError(
            f"training needs {', '.join(missing)}. Run `pip install {' '.join(missing)}`."
        )
    plan = QUICK if arguments.quick else FULL
    if arguments.episodes is not None:
        plan = plan._replace(episodes=arguments.episodes)
    for name, value in (("--seeds", arguments.seeds), ("--episodes", plan.episodes)):
        if value < 1:
            raise DataError(f"{name} {value}: give a number >= 1.")
    output = Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    if arguments.beside is not None and not (Path(arguments.beside) / "results.json").is_file():
        raise DataError(f"--beside {arguments.beside}: it holds no results.json of a training.")
    real = [arena.Corpus.open(arguments.real).directory] if arguments.real else []
    worlds = output / "worlds"
    train = [_world(worlds, plan, seed, plan.train_surveys) for seed in plan.train]
    made_of = [_with_paper_tasks(w) for w in train] if arguments.tasks == "papers" else train
    tests = {
        "unseen worlds": [_world(worlds, plan, seed, plan.test_surveys) for seed in plan.test],
        "harder worlds": [
            _world(worlds, plan, seed, plan.test_surveys, HARDER) for seed in plan.harder
        ],
        "real papers": real,
    }
    for name in ("results.json", "learning_curve.svg"):  # of a run before, with other weights
        (output / name).unlink(missing_ok=True)
    curves = _train_all(arguments.seeds, output, made_of, tests["unseen worlds"], plan)
    results = {
        "plan": {key: list(v) if isinstance(v, tuple) else v for key, v in plan._asdict().items()},
        "seeds": arguments.seeds,
        "tasks": arguments.tasks,
        "curves": {f"seed {seed}": curve for seed, curve in enumerate(curves)},
        "tests": {
            name: _test(output, name, corpora, arguments.seeds)
            for name, corpora in tests.items()
            if corpora
        },
    }
    if arguments.beside is not None:
        _compare_with(Path(arguments.beside), results)
    levels = results["tests"]["unseen worlds"]["mean"]
    shown = {name: levels[name] for name in ("random", "title", "oracle")}
    shown["random phrases, fused"] = levels["random phrases"]
    atomic_write(output / "learning_curve.svg", svg(results["curves"], shown))
    write_json(output / "results.json", results)
    if arguments.json:
        print_json(results)
    else:
        _print(results)
        print(f"{time.monotonic() - started:.0f} s; files in {output}")


def _world(
    worlds: Path, plan: Plan, seed: int, surveys: int, synonymy: float = WorldConfig.synonymy
) -> Path:
    """Return a world, built if it is not there or was made with other knobs."""
    config = WorldConfig(seed=seed, papers=plan.papers, surveys=surveys, synonymy=synonymy)
    path = worlds / f"{seed}-{plan.papers}"
    try:
        if arena.Corpus.open(path).manifest["source"].get("config") == config.to_dict():
            return path
    except CorpusError:
        pass  # not there yet, or of an older format
    build(WorldSource(config), path, overwrite=True)
    return path


def _with_paper_tasks(world: Path) -> arena.Corpus:
    tasks = world.with_name(f"{world.name}-tasks")
    write_paper_tasks(world, tasks, overwrite=True)
    return arena.Corpus.open(world, tasks=tasks)


def _compare_with(other: Path, results: dict[str, Any]) -> None:
    """Add the paired tests against the agent that another command trained."""
    theirs = json.loads((other / "results.json").read_bytes())
    for name, test in results["tests"].items():
        trained = theirs["tests"].get(name, {}).get("by_survey", {}).get("trained", {})
        if trained.keys() != test["by_survey"]["trained"].keys():
            raise DataError(f"--beside {str(other)!r} was tested on other surveys in {name}.")
        pair = paired(test["by_survey"]["trained"], trained)
        test["trained_against"][f"trained on {theirs['tasks']}"] = pair


def _train_all(
    seeds: int, output: Path, train: Sequence[Path | arena.Corpus], test: Sequence[Path], plan: Plan
) -> list[list[tuple[int, float]]]:
    """Train every seed, as many at once as there are cores; return the learning curves."""
    processes = min(seeds, cores())
    with progress(desc="training", unit="episode", total=seeds * plan.episodes) as bar:
        if processes == 1:
            return [_train(s, output, train, test, plan, bar.update) for s in range(seeds)]
        # torch and the engines have threads, which a forked process would lack.
        context = multiprocessing.get_context("spawn")
        with ExitStack() as stack:
            with block_sigint_in_children():  # this process alone answers Ctrl-C, and ends them
                played = stack.enter_context(context.Manager()).Queue()
                pool = stack.enter_context(ProcessPoolExecutor(processes, context))
                futures = [
                    pool.submit(_train, seed, output, train, test, plan, played.put)
                    for seed in range(seeds)
                ]
            try:
                while not all(future.done() for future in futures):
                    for future in futures:
                        if future.done():
                            future.result()  # raises an error at once
                    try:
                        bar.update(played.get(timeout=1))
                    except queue.Empty:
                        continue
            except BaseException:
                for process in list(pool._processes.values()):  # or they train to the end
                    process.terminate()
                raise
            return [future.result() for future in futures]


def _train(
    seed: int,
    output: Path,
    train: Sequence[Path | arena.Corpus],
    test: Sequence[Path],
    plan: Plan,
    report: Any,
) -> list[tuple[int, float]]:
    """Train one seed, save its weights, and return its (episodes, mean recall@100 on `test`)."""
    from reformulation import learning

    settings = learning.Settings(episodes=plan.episodes)
    updates = settings.updates
    points = {round(updates * point / plan.points) for point in range(plan.points + 1)}
    curve: list[tuple[int, float]] = []
    policy, before = None, 0
    for number, (episodes, policy) in enumerate(learning.train(train, seed, settings)):
        report(episodes - before)
        before = episodes
        if number in points:
            recalls = [learning.evaluate(corpus, policy) for corpus in test]
            found = [recall for by_survey in recalls for recall in by_survey.values()]
            curve.append((episodes, float(np.mean(found))))
    assert isinstance(policy, Policy)
    stream = io.BytesIO()
    np.savez(stream, **policy._asdict())
    atomic_write(weights_file(output, seed), stream.getvalue())
    return curve


def weights_file(output: Path, seed: int) -> Path:
    """Return where the weights of a seed are."""
    return output / f"weights-{seed}.npz"


def _test(output: Path, group: str, corpora: Sequence[Path], seeds: int) -> dict[str, Any]:
    """Let every agent play every survey of `corpora` through `arena.run`; compare them."""
    players: dict[str, list[tuple[Any, dict[str, Any], int]]] = {
        "random": [("random", {}, seed) for seed in range(seeds)],
        "title": [("title", {}, 0)],
        "random phrases": [(Reformulation, {}, seed) for seed in range(seeds)],
        "cited phrases": [(Reformulation, {"rule": "cited"}, 0)],
        "trained": [
            (Reformulation, {"weights": str(weights_file(output, seed))}, 0)
            for seed in range(seeds)
        ],
        "oracle": [("oracle", {}, 0)],
    }
    recalls: dict[str, list[dict[str, float]]] = {}
    for name, runs in progress(players.items(), desc=f"testing on {group}", unit="agent"):
        recalls[name] = [
            {
                f"{number} {survey}": entry["recall@100"]
                for number, corpus in enumerate(corpora)
                for survey, entry in _run(corpus, *run).items()
                if entry["recall@100"] is not None
            }
            for run in runs
        ]
    by_survey = {name: mean_over(runs) for name, runs in recalls.items()}
    return {
        "mean": {name: float(np.mean(list(found.values()))) for name, found in by_survey.items()},
        "by_seed": [float(np.mean(list(run.values()))) for run in recalls["trained"]],
        "trained_against": {
            other: paired(by_survey["trained"], by_survey[other])
            for other in ("title", "random phrases", "cited phrases")
        },
        "each_seed_against_title": [paired(run, by_survey["title"]) for run in recalls["trained"]],
        "random_phrases_against_title": paired(by_survey["random phrases"], by_survey["title"]),
        "by_survey": by_survey,
    }


def _run(corpus: Path, agent: Any, options: dict[str, Any], seed: int) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        summary = arena.run(
            corpus, "discovery", agent, Path(directory) / "run", agent_options=options, seed=seed
        )
    return summary["per_survey"]


def _print(results: dict[str, Any]) -> None:
    names = list(results["tests"])
    first = results["tests"][names[0]]
    rows = [
        (agent, *(results["tests"][n]["mean"][agent] for n in names)) for agent in first["mean"]
    ]
    rows += [
        (f"trained, seed {seed}", *(results["tests"][n]["by_seed"][seed] for n in names))
        for seed in range(results["seeds"])
    ]
    print_table(rows, ("recall@100", *names))
    for name in names:
        print(f"\nOn {name}, by survey (Wilcoxon signed-rank test, two-sided):")
        for other, test in results["tests"][name]["trained_against"].items():
            print(f"  trained against {other}: {describe(test)}")
        test = results["tests"][name]["random_phrases_against_title"]
        print(f"  random phrases against title: {describe(test)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = Parser(
        prog="train_reformulation.py",
        description=(__doc__ or "").splitlines()[0],
        allow_abbrev=False,
    )
    add_arguments(parser)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
