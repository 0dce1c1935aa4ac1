"""How examples/train_search_model.py trains: supervised tuning, then GRPO through TRL's door."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch
from arena_integrations.trl import kept_results, rows
from datasets import concatenate_datasets
from search_model import load
from tiny_model import TYPE, ciphered
from torch.nn.functional import cross_entropy
from trl import GRPOConfig, GRPOTrainer

from arena.kit.files import atomic_write

if TYPE_CHECKING:
    from train_search_model import Plan

Messages = list[dict[str, Any]]
Tokens = tuple[list[int], list[int]]
"""Tokens of a conversation, and 1 for each that is to be learned, 0 for the others."""


def tokenised(messages: Messages, tokenizer: Any, tools: Any, most: int) -> Tokens:
    """Return the tokens of a conversation, and 1 for those that the assistant wrote.

    The end of its turn counts as written; its header, the user's text and results do not. What
    follows the first `most` tokens after the prompt is left out, as in a rollout.
    """

    def rendered(part: Messages, begin: bool) -> list[int]:
        return tokenizer.apply_chat_template(  # type: ignore[no-any-return]
            part, tools=tools, add_generation_prompt=begin, return_dict=False
        )

    ids, mask, prompt = list[int](), list[int](), 0
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            ids, before = rendered(messages[: number + 1], False), rendered(messages[:number], True)
            ids = ids[: len(ids) - ids[::-1].index(tokenizer.eos_token_id)]
            prompt = prompt or len(before)
            mask += [0] * (len(before) - len(mask))
            mask += [1] * (len(ids) - len(mask))
    return ids[: prompt + most], mask[: prompt + most]


def imitation_loss(model: Any, chosen: Sequence[Tokens], pad: int) -> Any:
    """Return the mean cross-entropy of the tokens to be learned."""
    longest, device = max(len(ids) for ids, _ in chosen), next(model.parameters()).device

    def padded(lists: Sequence[list[int]], value: int) -> Any:
        return torch.tensor([x + [value] * (longest - len(x)) for x in lists], device=device)

    ids, learnt = padded([ids for ids, _ in chosen], pad), padded([mask for _, mask in chosen], 0)
    seen = padded([[1] * len(ids) for ids, _ in chosen], 0)
    logits = model(input_ids=ids, attention_mask=seen).logits[:, :-1].float()
    return cross_entropy(logits.flatten(0, 1), ids.masked_fill(learnt == 0, -100)[:, 1:].flatten())


def tune(
    model: Any,
    tokenizer: Any,
    tools: Any,
    plan: Plan,
    seed: int,
    demonstrations: Sequence[Any],
    folder: Path,
) -> list[float]:
    """Tune on demonstrations; return the loss of each step. The tiny model reads half in cipher.

    Every 20 steps ``folder/tuning.pt`` gets what an interrupted tuning resumes from.
    """
    losses, file, tiny = list[float](), folder / "tuning.pt", model.config.model_type == TYPE
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.tuning_rate, weight_decay=0.0)
    if file.is_file():
        kept = torch.load(file, weights_only=True)
        losses = kept["losses"]
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
    for number in range(len(losses), plan.tuning):
        draw, chosen = random.Random(f"{seed} {number}"), []
        for group in optimizer.param_groups:
            group["lr"] = plan.tuning_rate * (1 - number / plan.tuning)
        for row in draw.choices(demonstrations, k=plan.batch):
            ids, mask = tokenised(row["messages"], tokenizer, tools, plan.tokens)
            if tiny and draw.random() < 0.5:
                ids = ciphered(ids, tokenizer, draw)
            chosen.append((ids, mask))
        optimizer.zero_grad()
        with torch.autocast(model.device.type, torch.bfloat16, enabled=not tiny):
            loss = imitation_loss(model, chosen, tokenizer.pad_token_id)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if number % 10 == 9:
            print(f"tuning {number + 1}/{plan.tuning}: loss {fmean(losses[-10:]):.3f}", flush=True)
        if number % 20 == 19:
            kept = {"losses": losses, "model": model.state_dict()}
            stream = io.BytesIO()
            torch.save(kept | {"optimizer": optimizer.state_dict()}, stream)
            atomic_write(file, stream.getvalue())
    file.unlink(missing_ok=True)
    return losses


def reinforce(
    plan: Plan,
    folder: Path,
    seed: int,
    kinds: dict[str, type[Any]],
    worlds: dict[str, Path],
    demonstrations: Sequence[dict[str, Any]],
) -> Any:
    """Return the trainer of the weights in ``folder/tuned`` after its steps; its log has each."""
    model, tokenizer, _ = load(str(folder / "tuned"))
    data = concatenate_datasets([rows(path, environment=name) for name, path in worlds.items()])
    gpu = torch.cuda.is_available()
    config = GRPOConfig(
        output_dir=str(folder / "trainer"),
        per_device_train_batch_size=plan.prompts * plan.generations,
        num_generations=plan.generations,
        max_completion_length=plan.tokens,
        max_tool_calling_iterations=plan.calls,
        mask_truncated_completions=True,
        max_steps=plan.steps,
        learning_rate=plan.rate,
        lr_scheduler_type="constant",
        seed=seed,
        bf16=model.config.model_type != TYPE,
        use_cpu=not gpu,
        gradient_checkpointing=gpu,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(
        model,
        args=config,
        train_dataset=data.shuffle(seed=seed),
        processing_class=tokenizer,
        reward_funcs=kept_results,
        environment_factory=kinds,
    )
    trainer.teach(demonstrations, plan)
    trainer.train()
    return trainer


class Trainer(GRPOTrainer):  # type: ignore[misc]
    """GRPO that also imitates an expert where all rollouts of a group earned less than it did."""

    def teach(self, demonstrations: Sequence[dict[str, Any]], plan: Plan) -> None:
        """Take the best demonstration of each survey."""
        self._plan, self._failed = plan, list[Messages]()
        by_reward = sorted(demonstrations, key=lambda row: row["reward"])
        self._best = {(row["world"], row["survey"]): row for row in by_reward}

    def _calculate_rewards(self, inputs: Any, *more: Any) -> Any:
        rewards = super()._calculate_rewards(inputs, *more)
        totals = rewards.nansum(dim=1)
        totals[rewards.isnan().all(dim=1)] = -torch.inf  # not valid
        most = totals.view(-1, self.num_generations).max(dim=1).values
        best = [self._best[r["environment"], r["survey"]] for r in inputs[:: self.num_generations]]
        self._failed = [
            row["messages"]
            for row, reward in zip(best, most.tolist(), strict=True)
            if -torch.inf < reward < row["reward"]
        ]
        self._metrics["train"]["failed_groups"].append(len(self._failed) / len(best))
        return rewards

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        loss = super()._compute_loss(model, inputs)
        if self._failed and self._plan.imitation:
            tools = self._env_tools[self._batch_environments[0]]
            chosen = [
                tokenised(each, self.processing_class, tools, self._plan.tokens)
                for each in self._failed
            ]
            pad = self.processing_class.pad_token_id
            loss = loss + self._plan.imitation * imitation_loss(model, chosen, pad)
        return loss
