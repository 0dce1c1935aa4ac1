"""A language model of 0.3 million weights that can call ``search``, made in minutes on a CPU.

It learns to copy, and then to answer: half of the time that it does not know, else with a
search, for the topic or for "a survey", with 1, 10 or 100 hits. What pays, it does not learn here.
"""

from __future__ import annotations

import json
import random
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl.chat_template_utils import qwen2_5_chat_template

SILENT = "I do not know."
TOO_LITTLE = "a survey"
HITS = (1, 10, 100)
_CALL = '<tool_call>\n{"name": "search", "arguments": {"query": "'
_CALLED = "}}\n</tool_call><|im_end|>"
_PAD, _START, _END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"


def tiny_model(prompts: list[str], tools: list[Any], seed: int, steps: int) -> tuple[Any, Any]:
    """Return the model and its tokenizer.

    Args:
        prompts: Texts of users' messages; each ends with an opening observation.
        tools: Schemas of the tools.
        seed: Seed of weights and draws.
        steps: Steps of copying; calling takes twice as many.
    """
    torch.manual_seed(seed)
    draw = random.Random(seed)
    answers = [SILENT, _CALL, TOO_LITTLE, *(f'", "k": {k}{_CALLED}' for k in HITS)]
    tokenizer = _tokenizer([*prompts, json.dumps(tools), *answers * len(prompts)])
    rendered: list[Any] = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            tools=tools,
            add_generation_prompt=True,
            tokenize=False,
        )
        for prompt in prompts
    ]
    topics = [json.loads(prompt[prompt.index('{"topic"') :])["topic"] for prompt in prompts]
    model = _llama(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)

    def tokens(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False).input_ids  # type: ignore[no-any-return]

    words = range(3, len(tokenizer))
    for _ in range(steps):
        halves = [draw.choices(words, k=24) for _ in range(32)]
        _learn(model, optimizer, [half + half for half in halves], [25] * 32)
    pairs = list(zip(rendered, topics, strict=True))
    # First with the end of the prompts alone, which is quick, then with the whole of them.
    for number in range(2 * steps):
        whole = number >= steps
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * (1 - number / (2 * steps))
        sequences, known = [], []
        for text, topic in draw.choices(pairs, k=8 if whole else 16):
            before, _, after = text.partition(topic)
            # Half of the topics are any tokens at all, so that none is learned by heart.
            asked = draw.choice([draw.choices(words, k=draw.randint(2, 16)), tokens(topic)])
            question = [*tokens(before)[0 if whole else -30 :], *asked, *tokens(after)]
            query = draw.choice([asked, tokens(TOO_LITTLE)])
            call = [*tokens(_CALL), *query, *tokens(f'", "k": {draw.choice(HITS)}{_CALLED}')]
            answer = draw.choice([call, tokens(SILENT + _END)])
            sequences.append(question + answer)
            known.append(len(question))
        _learn(model, optimizer, sequences, known)
    return model.eval(), tokenizer


def _llama(tokenizer: Any) -> Any:
    """Return a model of two layers with random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=96,
            intermediate_size=192,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=8192,
            tie_word_embeddings=True,
            initializer_range=0.1,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def _learn(model: Any, optimizer: Any, sequences: list[list[int]], known: list[int]) -> None:
    """Take one step on what follows the first `known` tokens of each sequence."""
    longest, pad = max(map(len, sequences)), model.config.pad_token_id
    ids = torch.tensor([each + [pad] * (longest - len(each)) for each in sequences])
    first = min(known) - 1
    hidden = model.model(input_ids=ids).last_hidden_state[:, first:-1]
    wanted = ids[:, first + 1 :].clone()
    for row, (each, count) in enumerate(zip(sequences, known, strict=True)):
        wanted[row, : count - first - 1] = -100
        wanted[row, len(each) - first - 1 :] = -100
    optimizer.zero_grad()
    loss: Any = cross_entropy(model.lm_head(hidden).flatten(0, 1), wanted.flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def _tokenizer(texts: list[str]) -> Any:
    """Return a byte-level BPE of at most 1,500 tokens with the chat template of Qwen 2.5."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=[_PAD, _START, _END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator(texts, trainer)
    made: Any = PreTrainedTokenizerFast
    return made(
        tokenizer_object=bare,
        eos_token=_END,
        pad_token=_PAD,
        chat_template=qwen2_5_chat_template,
    )
