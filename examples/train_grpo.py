"""Train a language model with GRPO on made-up worlds, and test it on worlds it has not seen.

python examples/train_grpo.py --model tiny --output runs/grpo

docs/trainers.md describes what is learned and the results. Needs pip install 'researcharena[trl]'.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from demo import open_or_build

import arena
import arena.cli
from arena._internal.files import write_json
from arena._internal.lazy import require
from arena.agents import Agent, Desk, Observation
from arena.cli.app import Parser, run_command
from arena.doors.trl import PROMPT, environment_factory, rows
from arena.errors import DataError
from arena.session import opening_text, step_text
from corpus_builder.world import WorldConfig

CURRICULUM = {"easy": 0.0, "medium": 0.5, "hard": 0.8}
"""Name of a world to train on -> its synonymy."""
METRIC = "recall@100"
SETTINGS = "rollouts.json"
_ROLLOUT = ("reset", "get_reward")  # functions of an environment that are not tools


class GrpoPlan(NamedTuple):
    """How much is done. `QUICK` only checks that everything runs; `LARGE` is for other models."""

    steps: int = 60
    prompts: int = 4  # of a step
    generations: int = 8  # of a prompt
    tokens: int = 64  # of a rollout, results included; a longer result ends it
    calls: int = 1  # messages with calls of a rollout
    rate: float = 3e-4
    papers: int = 1000  # of a world
    surveys: int = 60  # of a world
    tests: int = 60  # surveys of each corpus to test on


QUICK = GrpoPlan(steps=3, prompts=1, generations=4, papers=200, surveys=6, tests=6)
LARGE = GrpoPlan(steps=1, prompts=1, tokens=512, calls=3, rate=1e-5, tests=10)


def execute(options: argparse.Namespace) -> None:
    """Build the worlds, test, train, test again, and compare."""
    require("examples/train_grpo.py", "torch", "trl")
    tracker = options.report_to
    if tracker != "none" and importlib.util.find_spec(tracker) is None:
        raise DataError(f"--report-to {tracker} needs its package. Run: pip install {tracker}")
    os.environ.setdefault("WANDB_MODE", "offline")
    plan = QUICK if options.quick else GrpoPlan() if options.model == "tiny" else LARGE
    plan = plan._replace(**{k: v for k in plan._fields if (v := getattr(options, k, None))})
    output = Path(options.output)
    os.environ.setdefault("WANDB_DIR", str(output))
    os.environ.setdefault("TENSORBOARD_LOGGING_DIR", str(output / "tensorboard"))
    if options.train:
        worlds = {"corpus": Path(options.train)}
    else:
        worlds = {
            name: _world(output, plan, 1001 + number, synonymy)
            for number, (name, synonymy) in enumerate(CURRICULUM.items())
        }
    tests = {"unseen": _world(output, plan, 2001)}
    if options.real:
        tests["real"] = Path(options.real)
    spent = [0.0]
    environments = {name: _environment(path, name, spent, options) for name, path in worlds.items()}
    trainer, tools = _trainer(options, plan, worlds, environments)
    settings = {"tools": tools, "calls": plan.calls, "tokens": plan.tokens}
    _save(trainer, output / "before", settings)
    _test(trainer, plan, output, "before", tests)
    spent[0], begun = 0.0, time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - begun
    _save(trainer, output / "after", settings)
    _test(trainer, plan, output, "after", tests)
    curve = [entry for entry in trainer.state.log_history if "reward" in entry]
    rewards = [entry["reward"] for entry in curve]
    first, last = fmean(rewards[:5]), fmean(rewards[-5:])
    share = spent[0] / seconds
    write_json(output / "curve.json", {"seconds": seconds, "environment": share, "steps": curve})
    for name in tests:
        runs = [f"{when}={output / 'runs' / f'{name}-{when}'}" for when in ("before", "after")]
        print(f"\n{name}:", flush=True)
        arena.cli.main(["compare", *runs, "--metric", METRIC])
    print(
        f"{plan.steps} steps, {seconds / plan.steps:.2f} s each, {share:.1%} of it in the "
        f"environment; mean reward of the first 5 {first:.3f}, of the last 5 {last:.3f}"
    )


def _world(output: Path, plan: GrpoPlan, seed: int, synonymy: float = 0.5) -> Path:
    config = WorldConfig(seed=seed, papers=plan.papers, surveys=plan.surveys, synonymy=synonymy)
    path = output / "worlds" / f"{seed}-{plan.papers}-{plan.surveys}"
    return open_or_build(config, path).directory


def _environment(
    world: Path, name: str, spent: list[float], options: argparse.Namespace
) -> type[Any]:
    """Return the door's class with some of its tools; its functions add their time to `spent`."""
    environment = environment_factory(world, reward=options.reward)
    environment.__name__ = name  # in the log
    found = [f for f, _ in inspect.getmembers(environment, inspect.isfunction) if f[0] != "_"]
    kept = options.tools.split(",")
    if unknown := set(kept) - set(found):
        raise DataError(f"--tools {options.tools}: there is no {min(unknown)!r} among {found}.")
    for each in found:
        if each in kept or each in _ROLLOUT:
            setattr(environment, each, _clocked(getattr(environment, each), spent))
        else:
            delattr(environment, each)
    return environment


def _clocked(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def clocked(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[0] += time.perf_counter() - begun

    return clocked


def _trainer(
    options: argparse.Namespace,
    plan: GrpoPlan,
    worlds: dict[str, Path],
    environments: dict[str, type[Any]],
) -> tuple[Any, list[dict[str, Any]]]:
    """Return the trainer, whose rows go from the easiest world to the hardest, and its tools."""
    import torch
    from datasets import concatenate_datasets
    from transformers.utils.chat_template_utils import get_json_schema
    from trl import GRPOConfig, GRPOTrainer

    part = -(-plan.steps * plan.prompts // len(worlds))
    stages = [rows(path, environment=name) for name, path in worlds.items()]
    data = concatenate_datasets([s.select([i % len(s) for i in range(part)]) for s in stages])
    rollouts = [environment() for environment in environments.values()]
    tools = [get_json_schema(getattr(rollouts[0], name)) for name in options.tools.split(",")]
    prompts = [
        row["prompt"][0]["content"] + rollout.reset(**row)
        for stage, rollout in zip(stages, rollouts, strict=True)
        for row in stage
    ]
    model, tokenizer = _model(options, prompts, tools)
    gpu = torch.cuda.is_available()
    config = GRPOConfig(
        output_dir=str(options.output),
        per_device_train_batch_size=plan.prompts * plan.generations,
        num_generations=plan.generations,
        max_completion_length=plan.tokens,
        max_tool_calling_iterations=plan.calls,
        max_steps=plan.steps,
        learning_rate=plan.rate,
        lr_scheduler_type="constant",
        shuffle_dataset=False,
        seed=options.seed,
        bf16=gpu,
        use_cpu=not gpu,
        logging_steps=1,
        save_strategy="no",
        report_to=options.report_to,
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model,
        args=config,
        train_dataset=data,
        processing_class=tokenizer,
        environment_factory=environments,
    )
    return trainer, tools


def _model(options: argparse.Namespace, prompts: list[str], tools: Any) -> tuple[Any, Any]:
    """Return the model to train and its tokenizer, whose chat template renders tools."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
    from trl import chat_template_utils

    if options.model == "tiny":
        from tiny_model import tiny_model

        return tiny_model(prompts, tools, options.seed, steps=4 if options.quick else 300)
    if options.model != "smollm2":
        name = options.model
        return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    require("--model smollm2", "gguf")
    from local_model import weights

    path = weights()
    quantised: Any = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # What is quantised cannot be saved; and the template in the file renders no tools.
    del quantised.config.quantization_config
    model: Any = LlamaForCausalLM(quantised.config)
    model.load_state_dict(quantised.state_dict())
    tokenizer.chat_template = chat_template_utils.qwen2_5_chat_template
    return model, tokenizer


def _save(trainer: Any, folder: Path, settings: dict[str, Any]) -> None:
    trainer.save_model(str(folder))
    write_json(folder / SETTINGS, settings)


def _test(trainer: Any, plan: GrpoPlan, output: Path, when: str, tests: dict[str, Path]) -> None:
    """Let the weights play surveys of the tests, and log the means."""
    for name, corpus in tests.items():
        found = arena.run(
            corpus,
            "discovery",
            f"{__file__}:LanguageModel",
            output / "runs" / f"{name}-{when}",
            agent_options={"weights": str(output / when)},
            surveys=plan.tests,
            overwrite=True,
        )
        key = f"eval_{name}_{METRIC}".replace("@", "_at_")  # which some trackers refuse
        trainer.log({key: found["mean"][METRIC]})


class LanguageModel(Agent):
    """Plays as in training with the weights in a folder; submits all papers that it was shown.

    Args:
        seed: Seed of what is drawn from the model.
        weights: Folder that this example wrote.
    """

    def __init__(self, seed: int = 0, weights: str = "") -> None:
        self.seed, self._asked = seed, 0
        self._model, self._tokenizer, self._settings = _load(weights)
        self._desk: Desk | None = None
        self._messages: list[dict[str, Any]] = []

    def act(self, observation: Observation) -> dict[str, Any]:
        """Return the first call of the model's next message, or submit."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
            text = PROMPT.read_text(encoding="utf-8") + opening_text(observation)
            self._messages.append({"role": "user", "content": text})
            self._start = len(self._rendered())
        else:
            self._desk.update(observation)
            name = self._messages[-1]["tool_calls"][0]["function"]["name"]
            content = step_text(observation)
            self._messages.append({"role": "tool", "name": name, "content": content})
        left = self._settings["tokens"] - len(self._rendered()) + self._start
        if self._asked < self._settings["calls"] and left > 0:
            self._asked += 1
            self._messages.append(self._answer(left))
            known = [tool["function"]["name"] for tool in self._settings["tools"]]
            for call in self._messages[-1].get("tool_calls") or ():
                function = call["function"]
                if function["name"] in known and isinstance(function["arguments"], dict):
                    return {"tool": function["name"], "arguments": function["arguments"]}
        return {"tool": "submit", "arguments": {"paper_ids": list(self._desk.papers)}}

    def _rendered(self) -> list[int]:
        return self._tokenizer.apply_chat_template(  # type: ignore[no-any-return]
            self._messages,
            tools=self._settings["tools"],
            add_generation_prompt=True,
            return_dict=False,
        )

    def _answer(self, most: int) -> dict[str, Any]:
        import torch
        from trl.chat_template_utils import parse_response

        torch.manual_seed(self.seed + self._asked)
        ids = self._rendered()
        made = self._model.generate(torch.tensor([ids]), max_new_tokens=most, do_sample=True)
        message: dict[str, Any] = parse_response(
            self._tokenizer, made[0, len(ids) :].tolist(), prefix=ids, tools=self._settings["tools"]
        )
        return message


@functools.lru_cache(maxsize=1)
def _load(weights: str) -> tuple[Any, Any, dict[str, Any]]:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.chat_template_utils import add_response_schema

    if not Path(weights, SETTINGS).is_file():
        raise DataError(f"weights={weights!r}: give a folder that examples/train_grpo.py wrote.")
    tokenizer = AutoTokenizer.from_pretrained(weights)
    if getattr(tokenizer, "response_template", None) is None:
        add_response_schema(tokenizer)
    model: Any = AutoModelForCausalLM.from_pretrained(weights)
    return model.eval(), tokenizer, json.loads(Path(weights, SETTINGS).read_text(encoding="utf-8"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", required=True, metavar="DIR", help="directory for all files")
    parser.add_argument(
        "--model", default="tiny", help="tiny, smollm2, or a name or folder for transformers"
    )
    parser.add_argument("--reward", default="gain", help="as docs/rewards.md has it")
    parser.add_argument("--tools", default="search", help="with commas, such as search,submit")
    for name, default in GrpoPlan._field_defaults.items():
        parser.add_argument(f"--{name}", type=type(default), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", metavar="CORPUS", help="train on it, and on no world")
    parser.add_argument("--real", metavar="CORPUS", help="a corpus of real papers to test on")
    parser.add_argument("--report-to", default="none", choices=["none", "tensorboard", "wandb"])
    parser.add_argument("--quick", action="store_true", help="to see that it runs")
    parser.set_defaults(execute=execute)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
