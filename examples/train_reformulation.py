"""Train an agent on made-up worlds to choose its queries, and test it on worlds it has not seen.

python examples/train_reformulation.py --output runs/reformulation

docs/training.md describes what is learned and the results. Needs torch, which
the extra `dense` installs.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from demo import open_or_build
from reformulation.agent import Policy, Reformulation

import arena
from arena._internal.files import atomic_write, write_json
from arena._internal.lazy import require
from arena._internal.plots import COLOURS, MARKERS, draw
from arena._internal.process import cores
from arena._internal.terminal import progress
from arena.cli.app import Parser, print_table, run_command
from arena.corpus import Corpus
from arena.errors import DataError
from arena.executors import make_executor
from corpus_builder.paper_tasks import write_paper_tasks
from corpus_builder.world import WorldConfig

HARDER = 0.9
"""Synonymy of the harder worlds; it is 0.5 by default."""


class Scale(NamedTuple):
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


QUICK = Scale((1001, 1002), (7,), (), 300, train_surveys=6, test_surveys=6, episodes=64, points=2)


def execute(arguments: argparse.Namespace) -> None:
    """Build the worlds, train, test, write and print."""
    started = time.monotonic()
    require("training", "torch", "matplotlib")
    plan = QUICK if arguments.quick else Scale()
    if arguments.episodes is not None:
        plan = plan._replace(episodes=arguments.episodes)
    for name, value in (("--seeds", arguments.seeds), ("--episodes", plan.episodes)):
        if value < 1:
            raise DataError(f"{name} {value}: give a number >= 1.")
    output, beside = Path(arguments.output), arguments.beside
    output.mkdir(parents=True, exist_ok=True)
    if beside is not None and not Path(beside, "results.json").is_file():
        raise DataError(f"--beside {beside}: it has no results.json of a training.")
    real = [Corpus.open(arguments.real)] if arguments.real else []

    def world(seed: int, surveys: int, synonymy: float = WorldConfig.synonymy) -> Corpus:
        config = WorldConfig(seed=seed, papers=plan.papers, surveys=surveys, synonymy=synonymy)
        return open_or_build(config, output / "worlds" / f"{seed}-{plan.papers}")

    train = [world(seed, plan.train_surveys) for seed in plan.train]
    if arguments.tasks == "papers":
        train = [_with_paper_tasks(corpus.directory) for corpus in train]
    tests = {
        "unseen worlds": [world(seed, plan.test_surveys) for seed in plan.test],
        "harder worlds": [world(seed, plan.test_surveys, HARDER) for seed in plan.harder],
        "real papers": real,
    }
    for name in ("results.json", "learning_curve.svg"):  # of a run before, with other weights
        (output / name).unlink(missing_ok=True)
    work = partial(_train, output, train, tests["unseen worlds"], plan)
    with closing(make_executor("local", min(arguments.seeds, cores()))) as executor:
        curves = dict(sorted(executor.run(work, range(arguments.seeds))))
    results = {
        "plan": {key: list(v) if isinstance(v, tuple) else v for key, v in plan._asdict().items()},
        "seeds": arguments.seeds,
        "tasks": arguments.tasks,
        "curves": {f"seed {seed}": curve for seed, curve in curves.items()},
        "tests": {
            name: _test(output, name, corpora, arguments.seeds)
            for name, corpora in tests.items()
            if corpora
        },
    }
    if beside is not None:
        _compare_with(Path(beside), results)
    levels = results["tests"]["unseen worlds"]["mean"]
    shown = {name: levels[name] for name in ("random", "title", "oracle")}
    shown["random phrases, fused"] = levels["random phrases"]
    atomic_write(output / "learning_curve.svg", learning_curve(results["curves"], shown))
    write_json(output / "results.json", results)
    print_results(results)
    print(f"{time.monotonic() - started:.0f} s; files in {output}")


def _with_paper_tasks(world: Path) -> Corpus:
    tasks = world.with_name(f"{world.name}-tasks")
    write_paper_tasks(world, tasks, overwrite=True)
    return Corpus.open(world, tasks=tasks)


def _compare_with(other: Path, results: dict[str, Any]) -> None:
    """Add the paired tests against the agent that another command trained."""
    theirs = json.loads((other / "results.json").read_bytes())
    for name, test in results["tests"].items():
        trained = theirs["tests"].get(name, {}).get("by_survey", {}).get("trained", {})
        if trained.keys() != test["by_survey"]["trained"].keys():
            raise DataError(f"--beside {str(other)!r} was tested on other surveys in {name}.")
        pair = paired(test["by_survey"]["trained"], trained)
        test["trained_against"][f"trained on {theirs['tasks']}"] = pair


def _train(
    output: Path, train: Sequence[Corpus], test: Sequence[Corpus], plan: Scale, seed: int
) -> tuple[int, list[tuple[int, float]]]:
    """Train one seed, save its weights; return it with (episodes, mean recall@100 on `test`)."""
    from reformulation import learning

    settings = learning.Knobs(episodes=plan.episodes)
    updates = settings.updates
    points = {round(updates * point / plan.points) for point in range(plan.points + 1)}
    curve: list[tuple[int, float]] = []
    policy = None
    trained = learning.train(train, seed, settings)
    bar = progress(trained, desc=f"training seed {seed}", total=updates + 1, position=seed)
    for number, (episodes, policy) in enumerate(bar):
        if number in points:
            found = [r for corpus in test for r in learning.evaluate(corpus, policy).values()]
            curve.append((episodes, float(np.mean(found))))
    assert isinstance(policy, Policy)
    stream = io.BytesIO()
    np.savez(stream, **policy._asdict())
    atomic_write(weights_file(output, seed), stream.getvalue())
    return seed, curve


def weights_file(output: Path, seed: int) -> Path:
    """Return where the weights of a seed are."""
    return output / f"weights-{seed}.npz"


def _test(output: Path, group: str, corpora: Sequence[Corpus], seeds: int) -> dict[str, Any]:
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
    recalls = {
        name: [_recalls(corpora, *run) for run in runs]
        for name, runs in progress(players.items(), desc=f"testing on {group}", unit="agent")
    }
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


def _recalls(
    corpora: Sequence[Corpus], agent: Any, options: dict[str, Any], seed: int
) -> dict[str, float]:
    """Return recall@100 of every survey that can be scored, under number of corpus and id."""
    found = {}
    for number, corpus in enumerate(corpora):
        with tempfile.TemporaryDirectory() as directory:
            run = Path(directory) / "run"
            summary = arena.run(corpus, "discovery", agent, run, agent_options=options, seed=seed)
        for survey, entry in summary["per_survey"].items():
            if entry["recall@100"] is not None:
                found[f"{number} {survey}"] = entry["recall@100"]
    return found


Recalls = Mapping[str, float]
"""Survey -> recall@100."""


def mean_over(runs: Sequence[Recalls]) -> dict[str, float]:
    """Return the mean of several runs, by survey."""
    return {survey: float(np.mean([run[survey] for run in runs])) for survey in runs[0]}


def paired(ours: Recalls, theirs: Recalls) -> dict[str, Any]:
    """Compare two agents by survey: the Wilcoxon signed-rank test, two-sided.

    Pairs without a difference are left out, as Wilcoxon has it; `n` counts all pairs.

    >>> paired({"a": 0.5, "b": 0.75}, {"a": 0.25, "b": 0.25})
    {'n': 2, 'better': 2, 'worse': 0, 'mean_difference': 0.375, 'p': 0.5}
    """
    from scipy.stats import wilcoxon

    # Rounded, so that means over seeds that differ in the last bit only are ties.
    gaps = np.round([ours[survey] - theirs[survey] for survey in sorted(ours)], 12)
    return {
        "n": len(gaps),
        "better": int((gaps > 0).sum()),
        "worse": int((gaps < 0).sum()),
        "mean_difference": float(gaps.mean()),
        "p": float(wilcoxon(gaps).pvalue) if gaps.any() else 1.0,
    }


def print_results(results: Mapping[str, Any]) -> None:
    """Print the mean of every agent on every group of tests, and the paired tests."""
    tests = results["tests"]
    agents = next(iter(tests.values()))["mean"]
    rows = [(agent, *(test["mean"][agent] for test in tests.values())) for agent in agents]
    for seed in range(results["seeds"]):
        rows.append((f"trained, seed {seed}", *(test["by_seed"][seed] for test in tests.values())))
    print_table(rows, ("recall@100", *tests))
    for name, test in tests.items():
        print(f"\nOn {name}, by survey (Wilcoxon signed-rank test, two-sided):")
        pairs = {
            f"trained against {other}": pair for other, pair in test["trained_against"].items()
        }
        pairs["random phrases against title"] = test["random_phrases_against_title"]
        for title, pair in pairs.items():
            p = f"p = {pair['p']:.2g}" if pair["p"] >= 1e-4 else f"p = {pair['p']:.0e}"
            print(
                f"  {title}: {pair['mean_difference']:+.4f} a survey, better on {pair['better']}, "
                f"worse on {pair['worse']} of {pair['n']}, {p}"
            )


def learning_curve(
    curves: Mapping[str, Sequence[tuple[int, float]]], levels: Mapping[str, float]
) -> str:
    """Return an SVG of learning curves with levels to compare with.

    Args:
        curves: Name -> (episodes, mean recall@100), in order.
        levels: Name -> mean recall@100 of an agent that does not learn.
    """

    def paint(axes: Any) -> None:
        for name, level in levels.items():
            axes.axhline(level, color="#5b6675", linestyle="dashed")
            axes.annotate(f"{name} {level:.3f}", (1, level), xycoords=("axes fraction", "data"))
        for place, (name, curve) in enumerate(curves.items()):
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            axes.plot(*zip(*curve, strict=True), label=name, **look)
        axes.set(xlabel="training episodes", ylabel="mean recall@100 on unseen worlds", ylim=(0, 1))
        axes.legend(loc="upper left")

    return draw(paint, 8.5, 4)["svg"].decode()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = Parser("train_reformulation.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", required=True, help="directory for all files, with worlds")
    parser.add_argument("--seeds", type=int, default=3, help="default: 3")
    parser.add_argument("--episodes", type=int, help=f"of training, default: {Scale().episodes}")
    parser.add_argument(
        "--tasks", choices=("surveys", "papers"), default="surveys",
        help="what to train on: surveys of the worlds, or papers from before the first of them",
    )  # fmt: skip
    parser.add_argument("--beside", help="output of another training with the same tests")
    parser.add_argument("--quick", action="store_true", help="tiny worlds, to see that it runs")
    parser.add_argument("--real", metavar="CORPUS", help="a corpus of real papers to test on")
    parser.set_defaults(execute=execute)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
