"""The language models of examples/train_search_model.py: weights in folders, and their agent."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from arena_integrations.trl import PROMPT
from search_experts import fused

from arena.agents import Agent, Desk, Observation
from arena.errors import DataError
from arena.kit.files import read_json, write_json
from arena.kit.lazy import require
from arena.session import opening_text, step_text

SETTINGS = "rollouts.json"
"""The file beside weights: tools, calls and tokens of a rollout."""
MOST_WRITTEN = 100
"""Tokens of one message in a test."""
NOTHING = '{"budget": {}, "result": {"hits":[]}}'


def make(name: str, seed: int) -> tuple[Any, Any]:
    """Return the model to train and its tokenizer, whose chat template renders tools."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
    from trl import chat_template_utils

    if name == "tiny":
        from tiny_model import tiny_model

        return tiny_model(seed)
    if name != "smollm2":
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


class LanguageModel(Agent):
    """Plays as in training with the weights in a folder; submits what it was shown, fused.

    Args:
        seed: Seed of what is drawn from the model.
        weights: Folder that examples/train_search_model.py wrote.
        blind: Whether it reads an empty result in place of every one.
        greedy: Whether it writes the likeliest token each time, or draws as in training.
    """

    def __init__(
        self, seed: int = 0, weights: str = "", blind: bool = False, greedy: bool = True
    ) -> None:
        super().__init__(seed)
        self._model, self._tokenizer, self._settings = load(weights)
        self._desk: Desk | None = None
        self._messages: list[dict[str, Any]] = []
        self._lists: list[list[str]] = []
        self._asked, self._blind, self._greedy = 0, blind, greedy

    def act(self, observation: Observation) -> dict[str, Any]:
        """Return the first call of the model's next message, or submit."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
            text = PROMPT.read_text(encoding="utf-8") + opening_text(observation)
            self._messages.append({"role": "user", "content": text})
            self._start = len(self._rendered())
        else:
            self._desk.update(observation)
            shown = self._desk.result
            papers = shown.get("hits") or shown.get("references") or shown.get("citations") or ()
            self._lists.append([paper["id"] for paper in papers])
            name = self._messages[-1]["tool_calls"][0]["function"]["name"]
            content = NOTHING if self._blind else step_text(observation)
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
        return {"tool": "submit", "arguments": {"paper_ids": fused(self._lists)}}

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
        made = self._model.generate(
            torch.tensor([ids], device=self._model.device),
            max_new_tokens=min(most, MOST_WRITTEN),
            **({"do_sample": False} if self._greedy else {"do_sample": True, "top_k": 0}),
        )
        message: dict[str, Any] = parse_response(
            self._tokenizer, made[0, len(ids) :].tolist(), prefix=ids, tools=self._settings["tools"]
        )
        return message
