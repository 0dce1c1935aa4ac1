"""Teach a language model to search: demonstrations first, then reinforcement through TRL.

python examples/train_search_model.py --output runs/search

docs/trainers.md describes the recipe. Needs pip install 'researcharena[build,mindmap,trl]'.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import arena
from arena.agents import Agent, Desk, Observation, Researcher, Steps
from arena.cli import main as arena_command
from arena.cli.app import Parser, run_command
from arena.errors import DataError
from arena.kit.files import read_json, write_json
from arena.kit.lazy import require
from arena.session import opening_text, step_text
from arena.tasks import TaskSet
from arena_integrations.trl import PROMPT, environment_factory, kept_results, rows
from corpus_builder.synthetic import SyntheticConfig

CORPORA = {"easy": 0.0, "medium": 0.5, "hard": 0.8}
"""Name of a synthetic corpus to train on -> its synonymy."""
FEW, MANY = 10, 34
"""Hits that the expert asks for; three searches of `MANY` show 100 papers."""
SETTINGS = "rollouts.json"
"""The file beside weights: tools, calls and tokens of a rollout."""
HERE = str(Path(__file__))
MOST_WRITTEN = 100
"""Tokens of one message in a test."""
DONE = "I am done."
COPIES = 8
"""How often a demonstration is among those to learn from, each time in another cipher."""
_REWARD: dict[str, Any] = {
    "reward": "gain+cost",
    "reward_options": {"cost": {"per_search": 0.01, "per_character": 0.0}},
}


class Plan(NamedTuple):
    """How much is done, for the tiny model; `QUICK` only checks that everything runs."""

    tuning: int = 300  # steps of supervised tuning, of `batch` demonstrations each
    batch: int = 8
    tuning_rate: float = 2e-3
    steps: int = 60  # of reinforcement
    prompts: int = 3  # of a step
    generations: int = 6  # of a prompt
    tokens: int = 400  # of a rollout, results included; a longer result ends it
    calls: int = 3  # messages with calls of a rollout
    rate: float = 3e-4
    papers: int = 1000  # of a synthetic corpus
    topics: int = 60  # of a synthetic corpus
    tests: int = 60  # topics to test on


QUICK = Plan(40, steps=2, prompts=2, generations=4, papers=200, topics=4, tests=2)


class Reformulate(Researcher):
    """Searches for the topic, then for titles of the first two hits of its last search.

    How often (1 to 3 times) and for how many hits it draws: it shows what can be done, and leaves
    what pays to reinforcement.
    """

    def discover(self, desk: Desk) -> Steps[None]:
        """Search, each time for a text that was shown."""
        draw, query = random.Random(self.seed), desk.topic
        for _ in range(draw.randint(1, 3)):
            hits = yield from desk.search(query, draw.choice((FEW, MANY)))
            if not hits:
                break
            query = draw.choice(hits[:2]).title.lower()
        desk.ranking = list(desk.papers)


class LanguageModel(Agent):
    """Plays as in training with the weights in a folder; submits what it was shown, in that order.

    Args:
        seed: Not used: it writes the likeliest token each time.
        weights: Folder that this example wrote.
    """

    def __init__(self, seed: int = 0, weights: str = "") -> None:
        super().__init__(seed)
        self._model, self._tokenizer, self._settings = load(weights)
        self._desk: Desk | None = None
        self._messages: list[dict[str, Any]] = []
        self._asked = 0

    def act(self, observation: Observation) -> dict[str, Any]:
        """Return the first call of the model's next message, or submit."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
            text = PROMPT.read_text(encoding="utf-8") + opening_text(observation)
            self._messages.append({"role": "user", "content": text})
            self._start = len(self._rendered())
        else:
            self._desk.update(observation)
            result = {"role": "tool", "name": "search", "content": step_text(observation)}
            self._messages.append(result)
        left = self._settings["tokens"] - len(self._rendered()) + self._start
        if self._asked < self._settings["calls"] and left > 0:
            self._asked += 1
            self._messages.append(self._answer(left))
            for call in self._messages[-1].get("tool_calls") or ():
                function = call["function"]
                if function["name"] == "search" and isinstance(function["arguments"], dict):
                    return {"tool": "search", "arguments": function["arguments"]}
        return {"tool": "submit", "arguments": {"paper_ids": list(self._desk.papers)}}

    def _rendered(self) -> list[int]:
        return self._tokenizer.apply_chat_template(  # type: ignore[no-any-return]
            self._messages, tools=self._settings["tools"], add_generation_prompt=True,
            return_dict=False,
        )  # fmt: skip

    def _answer(self, most: int) -> dict[str, Any]:
        import torch
        from trl.chat_template_utils import parse_response

        ids = self._rendered()
        made = self._model.generate(
            torch.tensor([ids], device=self._model.device),
            max_new_tokens=min(most, MOST_WRITTEN),
            do_sample=False,
        )
        message: dict[str, Any] = parse_response(
            self._tokenizer, made[0, len(ids) :].tolist(), prefix=ids, tools=self._settings["tools"]
        )
        return message


def make(name: str, seed: int) -> tuple[Any, Any]:
    """Return the model to train and its tokenizer, whose chat template renders tools."""
    from tiny_model import tiny_model
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.chat_template_utils import get_training_chat_template

    if name == "tiny":
        return tiny_model(seed)
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.chat_template = get_training_chat_template(tokenizer) or tokenizer.chat_template
    return AutoModelForCausalLM.from_pretrained(name), tokenizer


def save(model: Any, tokenizer: Any, folder: Path, settings: dict[str, Any]) -> None:
    """Write weights, tokenizer and settings."""
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    # A model that learned one order of a tool's arguments fails in another.
    write_json(folder / SETTINGS, settings, sort_keys=False)


@functools.lru_cache(maxsize=1)
def load(weights: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return a folder's model, tokenizer and settings."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.chat_template_utils import add_response_schema

    if not Path(weights, SETTINGS).is_file():
        raise DataError(f"weights={weights!r}: give a folder that this example wrote.")
    tokenizer = AutoTokenizer.from_pretrained(weights)
    if getattr(tokenizer, "response_template", None) is None:
        add_response_schema(tokenizer)
    model: Any = AutoModelForCausalLM.from_pretrained(weights)
    return model.eval(), tokenizer, read_json(Path(weights, SETTINGS))


def tokenised(
    messages: Sequence[dict[str, Any]], tokenizer: Any, tools: Any, most: int
) -> tuple[list[int], list[int]]:
    """Return the tokens of a conversation, and 1 for those that the assistant wrote, else 0.

    What follows the first `most` tokens after the prompt is left out, as in a rollout.
    """
    made = tokenizer.apply_chat_template(
        messages, tools=tools, return_dict=True, return_assistant_tokens_mask=True
    )
    ids, mask = made["input_ids"], made["assistant_masks"]
    end = mask.index(1) + most
    return ids[:end], mask[:end]


def tune(
    model: Any, tokenizer: Any, tools: Any, plan: Plan, seed: int, shown: list[Any], folder: Path
) -> None:
    """Tune on demonstrations, of which the tiny model reads half in cipher."""
    from tiny_model import TYPE, ciphered
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments

    draw, learned = random.Random(seed), list[dict[str, list[int]]]()
    for row in shown * COPIES:
        ids, mask = tokenised(row["messages"], tokenizer, tools, plan.tokens)
        if model.config.model_type == TYPE and draw.random() < 0.5:
            ids = ciphered(ids, tokenizer, draw)
        labels = [each if learn else -100 for each, learn in zip(ids, mask, strict=True)]
        learned.append({"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels})
    arguments = TrainingArguments(
        max_steps=plan.tuning,
        per_device_train_batch_size=plan.batch,
        learning_rate=plan.tuning_rate,
        logging_steps=10,
        **_common(model, folder, seed),
    )
    Trainer(model, arguments, DataCollatorForSeq2Seq(tokenizer), learned).train()


def _common(model: Any, folder: Path, seed: int) -> dict[str, Any]:
    import torch
    from tiny_model import TYPE

    tiny = model.config.model_type == TYPE
    return {"output_dir": str(folder / "trainer"), "seed": seed, "bf16": not tiny,
            "use_cpu": not torch.cuda.is_available(), "save_strategy": "no",
            "report_to": "none"}  # fmt: skip


def reinforce(plan: Plan, folder: Path, seed: int, corpora: dict[str, Path]) -> Any:
    """Return the trainer of the weights in ``folder/tuned`` after its steps; its log has each."""
    from datasets import concatenate_datasets
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer, _ = load(str(folder / "tuned"))
    data = concatenate_datasets([rows(path, environment=name) for name, path in corpora.items()])
    config = GRPOConfig(
        per_device_train_batch_size=plan.prompts * plan.generations,
        num_generations=plan.generations,
        max_completion_length=plan.tokens,
        max_tool_calling_iterations=plan.calls,
        mask_truncated_completions=True,
        max_steps=plan.steps,
        learning_rate=plan.rate,
        lr_scheduler_type="constant",
        logging_steps=1,
        **_common(model, folder, seed),
    )
    trainer = GRPOTrainer(
        model,
        args=config,
        train_dataset=data.shuffle(seed=seed),
        processing_class=tokenizer,
        reward_funcs=kept_results,
        environment_factory={name: environment(path, name) for name, path in corpora.items()},
    )
    trainer.train()
    return trainer


def environment(synthetic: Path, name: str) -> type[Any]:
    """Return TRL's class of a synthetic corpus, with the tool `search` alone."""
    kind = environment_factory(synthetic, max_k=MANY, **_REWARD)
    kind.__name__ = name  # in the log
    for tool in kind._sessions.schemas():
        if tool["function"]["name"] != "search":
            delattr(kind, tool["function"]["name"])
    return kind


def execute(options: argparse.Namespace) -> None:
    """Build the synthetic corpora, then demonstrate, tune, reinforce and test, each step once."""
    require("examples/train_search_model.py", "duckdb", "scipy", "trl")
    plan = QUICK if options.quick else Plan()
    plan = plan._replace(**{k: v for k in plan._fields if (v := getattr(options, k)) is not None})
    output, seed = Path(options.output), options.seed
    corpora = {n: _synthetic(output, plan, 1001 + i, s) for i, (n, s) in enumerate(CORPORA.items())}
    unseen = _synthetic(output, plan, 3001, 0.5)
    shown = [row for n, path in corpora.items() for row in _demonstrations(output, n, path)]
    folder, runs = output / f"seed-{seed}", output / "runs" / f"{plan.tests}"
    _learn(options.model, plan, folder, seed, corpora, shown)
    played: dict[str, tuple[str, dict[str, Any]]] = {
        f"{when}-{seed}": (f"{HERE}:LanguageModel", {"weights": str(folder / when)})
        for when in ("tuned", "reinforced")
    }
    played["title"] = ("title", {})
    tests = list(TaskSet(unseen).scorable)[-plan.tests :]
    for name, (agent, given) in played.items():
        most: dict[str, Any] = {} if agent == "title" else {"max_k": MANY}
        arena.run(unseen, "discovery", agent, runs / name, agent_options=given,
                  topics=tests, **most)  # fmt: skip
    arena_command(["compare", *(str(runs / name) for name in played)])


def _synthetic(output: Path, plan: Plan, seed: int, synonymy: float) -> Path:
    from demo import open_or_build  # whose packages are asked for first

    config = SyntheticConfig(seed=seed, papers=plan.papers, surveys=plan.topics, synonymy=synonymy)
    path = output / "synthetic corpora" / f"{seed}-{plan.papers}-{plan.topics}"
    return open_or_build(config, path).directory


def _demonstrations(output: Path, name: str, synthetic: Path) -> list[dict[str, Any]]:
    """Return the expert's episodes as rows with messages, without `submit`."""
    run, file = output / "expert" / name, output / "expert" / f"{name}.jsonl"
    if not file.is_file():
        arena.run(synthetic, "discovery", f"{HERE}:Reformulate", run, max_k=MANY, **_REWARD)
        arena_command(["export", "messages", str(run), "--corpus", str(synthetic),
                       "--output", str(file)])  # fmt: skip
    made = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in made:
        first, *rest = row["messages"]
        start = {**first, "content": PROMPT.read_text(encoding="utf-8") + first["content"]}
        row["messages"] = [start, *rest[:-1], {"role": "assistant", "content": DONE}]
    return made


def _learn(
    model_name: str, plan: Plan, folder: Path, seed: int, corpora: dict[str, Path], shown: list[Any]
) -> None:
    """Write the weights ``tuned`` and ``reinforced``, unless they are there."""
    import torch
    from transformers.utils.chat_template_utils import get_json_schema

    if (folder / "reinforced" / SETTINGS).is_file():
        return
    torch.manual_seed(seed)
    name, path = next(iter(corpora.items()))
    tools = [get_json_schema(environment(path, name)().search)]
    settings = {"tools": tools, "calls": plan.calls, "tokens": plan.tokens}
    model, tokenizer = make(model_name, seed)
    tune(model, tokenizer, tools, plan, seed, shown, folder)
    save(model, tokenizer, folder / "tuned", settings)
    trainer = reinforce(plan, folder, seed, corpora)
    write_json(folder / "curve.json", [s for s in trainer.state.log_history if "reward" in s])
    save(trainer.model, trainer.processing_class, folder / "reinforced", settings)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", required=True, metavar="DIR", help="directory for all files")
    parser.add_argument("--model", default="tiny", help="tiny, or a name for transformers")
    for name, default in Plan._field_defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="to see that it runs")
    parser.set_defaults(execute=execute)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
