"""Teach a language model to search: demonstrations first, then reinforcement through TRL's door.

python examples/train_search_model.py --output runs/search --model tiny --seeds 3

docs/trainers.md describes the recipe. Needs pip install 'researcharena[build,mindmap,trl]'.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from arena_integrations.trl import PROMPT, environment_factory
from search_experts import MANY
from search_model import SETTINGS, load, make, save

import arena
from arena.cli.app import Parser, run_command
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import read_json, write_json
from arena.kit.lazy import require
from arena.results.messages import write_messages
from arena.tasks import TaskSet
from arena.text.display import count
from corpus_builder.world import WorldConfig

WORLDS = {"easy": 0.0, "medium": 0.5, "hard": 0.8}
"""Name of a world to train on -> its synonymy."""
METRIC = "recall@100"
LEAST_UNEQUAL = 0.2
"""Share of groups with unequal rewards below which there is nothing to reinforce."""
EXPERTS = str(Path(__file__).with_name("search_experts.py"))
MODEL = str(Path(__file__).with_name("search_model.py")) + ":LanguageModel"
PAIRS = (
    *(("tuned", "constant"), ("reinforced", "tuned"), ("reinforced", "constant")),
    *(("reinforced", "shuffled"), ("reinforced", "blind"), ("reinforced", "title")),
)
DONE = "I am done."
_REWARD: dict[str, Any] = {
    "reward": "gain+cost",
    "reward_options": {"cost": {"per_search": 0.01, "per_character": 0.0}},
}
Tests = dict[str, tuple[Path, Path | None]]


class Plan(NamedTuple):
    """How much is done. `QUICK` only checks that everything runs; `LARGE` is for other models."""

    tuning: int = 300  # steps of supervised tuning, of `batch` demonstrations each
    batch: int = 8
    tuning_rate: float = 2e-3
    probe: int = 2  # steps that only measure how many groups have unequal rewards
    steps: int = 60  # of reinforcement
    prompts: int = 3  # of a step
    generations: int = 6  # of a prompt
    tokens: int = 400  # of a rollout, results included; a longer result ends it
    calls: int = 3  # messages with calls of a rollout
    rate: float = 3e-4
    imitation: float = 0.1  # weight of the loss on demonstrations of failed groups
    papers: int = 1000  # of a world
    surveys: int = 60  # of a world
    tests: int = 60  # surveys of each corpus to test on


QUICK = Plan(40, probe=1, steps=2, prompts=2, generations=4, papers=200, surveys=4, tests=2)
LARGE = Plan(60, 1, 2e-5, 1, 20, 1, 4, tokens=3000, calls=3, rate=1e-6, tests=10)


def execute(options: argparse.Namespace) -> None:
    """Build the worlds, then demonstrate, tune, reinforce and test, each step once."""
    require("examples/train_search_model.py", "duckdb", "scipy", "trl")
    plan = QUICK if options.quick else Plan() if options.model == "tiny" else LARGE
    plan = plan._replace(**{k: v for k in plan._fields if (v := getattr(options, k)) is not None})
    output = Path(options.output)
    worlds = {n: _world(output, plan, 1001 + i, s) for i, (n, s) in enumerate(WORLDS.items())}
    tests: Tests = {"unseen": (_world(output, plan, 3001, 0.5), None)}
    if options.real:
        tests["real"] = (Path(options.real), options.real_tasks and Path(options.real_tasks))
        TaskSet(Corpus.of(*tests["real"]))  # before hours of training
    demonstrations = [
        row
        for name, path in worlds.items()
        for expert in options.experts.split(",")
        for row in _demonstrations(output / "experts", name, path, expert)
    ]
    seeds = range(options.seed, options.seed + options.seeds)
    for seed in seeds:
        folder = output / f"seed-{seed}"
        _learn(options, plan, folder, seed, worlds, demonstrations)
        for when in ("reinforced", "tuned", "untrained"):
            weights = {"weights": str(folder / when)}
            _play(plan, output, f"{when}-{seed}", MODEL, tests, weights)
    _controls(plan, output, seeds[0], tests)
    print(table({test: _runs(output, plan, test) for test in tests}))


def _runs(output: Path, plan: Plan, test: str) -> Path:
    return output / "runs" / f"{test}-{plan.tests}"


def _world(output: Path, plan: Plan, seed: int, synonymy: float) -> Path:
    from demo import open_or_build  # whose packages are asked for first

    config = WorldConfig(seed=seed, papers=plan.papers, surveys=plan.surveys, synonymy=synonymy)
    path = output / "worlds" / f"{seed}-{plan.papers}-{plan.surveys}"
    return open_or_build(config, path).directory


def _demonstrations(folder: Path, name: str, world: Path, expert: str) -> list[dict[str, Any]]:
    """Return an expert's episodes as rows of survey, messages and reward, without `submit`."""
    run, file = folder / f"{name}-{expert}", folder / f"{name}-{expert}.jsonl"
    if not file.is_file():
        arena.run(world, "discovery", f"{EXPERTS}:{expert}", run, max_k=MANY, **_REWARD)
        write_messages(run, world, file, reward=True)
    made = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in made:
        first, *rest = row["messages"]
        start = {**first, "content": PROMPT.read_text(encoding="utf-8") + first["content"]}
        row["messages"] = [start, *rest[:-1], {"role": "assistant", "content": DONE}]
        row["world"] = name
    return made


def _learn(
    options: argparse.Namespace,
    plan: Plan,
    folder: Path,
    seed: int,
    worlds: dict[str, Path],
    demonstrations: list[dict[str, Any]],
) -> None:
    """Write the weights ``untrained``, ``tuned`` and ``reinforced``; what is there is kept."""
    import torch
    from search_trainer import reinforce, tune
    from transformers.utils.chat_template_utils import get_json_schema

    torch.manual_seed(seed)
    kinds = {name: _environment(path, name, options.tools) for name, path in worlds.items()}
    rollout = next(iter(kinds.values()))()
    tools = [get_json_schema(getattr(rollout, name)) for name in options.tools.split(",")]
    settings = {"tools": tools, "calls": plan.calls, "tokens": plan.tokens}
    if not (folder / "untrained" / SETTINGS).is_file():
        save(*make(options.model, seed), folder / "untrained", settings)
    if not (folder / "tuned" / SETTINGS).is_file():
        model, tokenizer, _ = load(str(folder / "untrained"))
        losses = tune(model, tokenizer, tools, plan, seed, demonstrations, folder)
        write_json(folder / "tuning.json", losses)
        save(model, tokenizer, folder / "tuned", settings)
    if (folder / "reinforced" / SETTINGS).is_file():
        return
    probe, rest = plan._replace(steps=plan.probe, rate=0.0), (seed, kinds, worlds, demonstrations)
    unequal = 1 - fmean(
        step["frac_reward_zero_std"] for step in _log(reinforce(probe, folder, *rest))
    )
    gate = {"unequal": unequal, "groups": plan.probe * plan.prompts}
    write_json(folder / "gate.json", gate)
    print(f"seed {seed}: {unequal:.0%} of {gate['groups']} groups have unequal rewards", flush=True)
    if unequal < LEAST_UNEQUAL:
        raise DataError(
            f"{unequal:.0%} of groups have unequal rewards, and {LEAST_UNEQUAL:.0%} are needed. "
            "Tune longer (--tuning), or demonstrate more (--experts, --surveys)."
        )
    begun = time.perf_counter()
    trainer = reinforce(plan, folder, *rest)
    seconds = time.perf_counter() - begun
    write_json(folder / "curve.json", {"seconds": seconds, "steps": _log(trainer)})
    save(trainer.model, trainer.processing_class, folder / "reinforced", settings)


def _log(trainer: Any) -> list[dict[str, Any]]:
    return [step for step in trainer.state.log_history if "reward" in step]


def _environment(world: Path, name: str, tools: str) -> type[Any]:
    """Return the door's class of a world, with some of its tools."""
    kind = environment_factory(world, max_k=MANY, **_REWARD)
    kind.__name__ = name  # in the log
    known = [tool["function"]["name"] for tool in kind._sessions.schemas()]
    if unknown := set(tools.split(",")) - set(known):
        raise DataError(f"--tools {tools}: there is no {min(unknown)!r} among {known}.")
    for each in set(known) - set(tools.split(",")):
        delattr(kind, each)
    return kind


def _play(
    plan: Plan, output: Path, name: str, agent: str, tests: Tests, options: Any = None
) -> None:
    """Let an agent play the last surveys of the tests; what is finished is kept."""
    most: dict[str, Any] = {"max_k": MANY} if ":" in agent else {}
    for test, (corpus, tasks) in tests.items():
        chosen = list(TaskSet(Corpus.of(corpus, tasks)).scorable)[-plan.tests :]
        given: dict[str, Any] = {"agent_options": options or {}, "surveys": chosen, "tasks": tasks}
        arena.run(corpus, "discovery", agent, _runs(output, plan, test) / name, **given, **most)


def _controls(plan: Plan, output: Path, seed: int, tests: Tests) -> None:
    """Play what a trained model must beat, and what it may not reach."""
    weights = {"weights": str(output / f"seed-{seed}" / "reinforced"), "blind": True}
    _play(plan, output, "blind", MODEL, tests, weights)
    _play(plan, output, "constant", f"{EXPERTS}:Constant", tests)
    for name in ("title", "scout"):
        _play(plan, output, name, name, tests)
    for test, (corpus, tasks) in tests.items():
        run = _runs(output, plan, test) / f"reinforced-{seed}" / "trajectories.jsonl"
        records = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
        answered = [[each for each in r["steps"] if "error" not in each] for r in records]
        calls = [[step["action"] for step in steps] for steps in answered]
        calls = [[c["arguments"] for c in each if c["tool"] == "search"] for each in calls]
        known = TaskSet(Corpus.of(corpus, tasks))
        topics = [known.survey(record["survey"]).title.lower() for record in records]
        file = _runs(output, plan, test).with_suffix(".shuffled.json")
        write_json(file, dict(zip(topics, calls[1:] + calls[:1], strict=True)))
        scripted, options = f"{EXPERTS}:Scripted", {"calls": str(file)}
        _play(plan, output, "shuffled", scripted, {test: tests[test]}, options)


def table(tests: dict[str, Path]) -> str:
    """Return recall@100 of all runs, seeds averaged by survey, and paired Wilcoxon tests."""
    from scipy.stats import wilcoxon

    lines = list[str]()
    for test, runs in tests.items():
        seeds: dict[str, list[dict[str, float]]] = {}
        for directory in sorted(runs.iterdir()):
            found = read_json(directory / "metrics.json")["per_survey"]
            values = {survey: each[METRIC] for survey, each in found.items()}
            seeds.setdefault(directory.name.partition("-")[0], []).append(values)
        means = {n: {s: fmean(r[s] for r in rs) for s in rs[0]} for n, rs in seeds.items()}
        lines.append(f"\n{test}, {count(len(means['title']), 'survey')}")
        for name, played in sorted(seeds.items(), key=lambda each: fmean(means[each[0]].values())):
            apart = ", ".join(f"{fmean(run.values()):.3f}" for run in played)
            lines.append(f"  {name:12} {fmean(means[name].values()):.3f}  ({apart})")
        for better, worse in PAIRS:
            gaps = [means[better][survey] - value for survey, value in means[worse].items()]
            p = wilcoxon(gaps).pvalue if any(gaps) else 1.0
            wins, losses = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
            lines.append(
                f"  {better} against {worse}: {fmean(gaps):+.3f}, {wins} : {losses}, p = {p:.1g}"
            )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", required=True, metavar="DIR", help="directory for all files")
    parser.add_argument(
        "--model", default="tiny", help="tiny, smollm2, or a name or folder for transformers"
    )
    parser.add_argument("--tools", default="search", help="with commas, such as search,references")
    parser.add_argument(
        "--experts", default="Reformulate", help="with commas: Reformulate, BriefScout, Links"
    )
    for name, default in Plan._field_defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds (default 1)")
    parser.add_argument("--real", metavar="CORPUS", help="a corpus of real papers to test on")
    parser.add_argument("--real-tasks", metavar="TASKS", help="a task set of it to test on")
    parser.add_argument("--quick", action="store_true", help="to see that it runs")
    parser.set_defaults(execute=execute)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
