"""A language model of 0.75 million weights that can copy words it has never seen.

Words are cut into pairs of letters, and the first two layers begin as a head that looks for what
followed the same pair before (an induction head, arXiv 2209.11895). Without that start, 300 steps
on repeated random sequences leave the loss at that of chance. What to copy, and when to search,
it learns from demonstrations. Its chat template shows it a user's topic, and of each result the
titles of the first two papers.
"""

from __future__ import annotations

import random
from itertools import product
from string import ascii_lowercase, printable
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch.nn.init import orthogonal_
from transformers import Lfm2Config, Lfm2ForCausalLM, PreTrainedTokenizerFast
from trl.chat_template_utils import qwen3_template

TYPE = "lfm2"
SHARP = 1.8
_PAD, _END, _OTHER = "<|endoftext|>", "<|im_end|>", "<|other|>"
_FIXED = (
    *("<|im_start|>user\n", "<|im_start|>assistant\n", "<tool_response>", "I am done."),
    *('<tool_call>\n{"name": "search", "arguments": {"query": "', '", "k": ', "}}\n</tool_call>"),
)
_TEMPLATE = r"""
{%- for message in messages -%}
{%- if message.role == 'user' -%}
{{- '<|im_start|>user\n' + message.content.split('"topic": "')[-1].split('", "cutoff"')[0] -}}
{{- '<|im_end|>' -}}
{%- elif message.role == 'tool' -%}
{{- '<tool_response>' -}}
{%- if '"budget": ' not in message.content -%}{{- message.content -}}{%- endif -%}
{%- for part in message.content.split('"title":"')[1:3] -%}
{{- part.split('","date"')[0] + '\n' -}}
{%- endfor -%}
{%- else -%}
{{- '<|im_start|>assistant\n' -}}
{%- generation -%}
{{- message.content or '' -}}
{%- for call in message.tool_calls or [] -%}
{{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' -}}
{{- (call.function.arguments | tojson) + '}\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>' -}}
{%- endgeneration -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"""


def tiny_model(seed: int) -> tuple[Any, Any]:
    """Return the model, with weights of a seed, and its tokenizer."""
    torch.manual_seed(seed)
    tokenizer = _tokenizer()
    config = Lfm2Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=192,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=2,
        layer_types=["conv", "full_attention", "conv", "full_attention"],
        conv_L_cache=3,
        conv_bias=True,
        block_auto_adjust_ff_dim=False,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        rope_parameters={"rope_type": "default", "rope_theta": 1e12},  # most of it ignores places
    )
    model = Lfm2ForCausalLM(config)
    _begin_copying(model, config.hidden_size)
    return model, tokenizer


@torch.no_grad()
def _begin_copying(model: Any, width: int) -> None:
    """Let layer 0 note the two tokens before; layer 1 fetches what stood behind the same two.

    In layer 0 half of the channels carry a projection of the token before, half one of that before
    it. In layer 1 a head compares this token with the first half, and the first half with the
    second.
    """
    half, part = width // 2, width // 4
    cut = orthogonal_(torch.empty(half, width))
    bring, same = orthogonal_(torch.empty(width, width)), torch.eye(width)
    model.model.embed_tokens.weight.normal_(0, width**-0.5)
    before, match = model.model.layers[0].conv, model.model.layers[1].self_attn
    for each in (before.in_proj.weight, before.conv.weight, before.conv.bias, before.out_proj.bias):
        each.zero_()
    before.in_proj.weight[2 * width :] = torch.cat([cut, cut])
    before.in_proj.bias.copy_((torch.arange(3 * width) < 2 * width).float())  # both gates open
    before.conv.weight[:half, 0, 1] = before.conv.weight[half:, 0, 0] = 1.0
    before.out_proj.weight.copy_(same * width**-0.5)
    heads = (slice(0, part), slice(part, half))
    asked = [block for head in heads for block in (cut[head], same[:half][head])]
    kept = [block for head in heads for block in (same[:half][head], same[half:][head])]
    match.q_proj.weight.copy_(torch.cat(asked))
    match.k_proj.weight.copy_(torch.cat(kept))
    match.q_layernorm.weight.fill_(SHARP)
    match.k_layernorm.weight.fill_(SHARP)
    match.v_proj.weight.copy_(bring)
    match.out_proj.weight.copy_(bring.T * 0.3)


def ciphered(ids: list[int], tokenizer: Any, draw: random.Random) -> list[int]:
    """Return the tokens of a conversation with every pair of letters exchanged for another one.

    So no word can be learned by heart. What begins a word still does.
    """
    vocabulary = tokenizer.get_vocab()
    cipher: dict[int, int] = {}
    for start in ("", " "):
        pairs = [vocabulary[start + "".join(pair)] for pair in product(ascii_lowercase, repeat=2)]
        cipher |= dict(zip(pairs, draw.sample(pairs, len(pairs)), strict=True))
    return [cipher.get(each, each) for each in ids]


def _tokenizer() -> Any:
    """Return a tokenizer of pairs of letters, fixed pieces of calls, and single characters."""
    letters = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
    tokens = [_PAD, _END, _OTHER, *printable, *letters, *(" " + each for each in letters)]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    bare = Tokenizer(models.WordLevel(vocabulary, unk_token=_OTHER))
    bare.normalizer = normalizers.Lowercase()
    bare.pre_tokenizer = pre_tokenizers.Split(Regex(r" ?[a-z]{1,2}|[\s\S]"), "isolated")
    bare.decoder = decoders.Fuse()
    bare.add_tokens([AddedToken(text, normalized=False) for text in _FIXED])
    made: Any = PreTrainedTokenizerFast
    tokenizer = made(tokenizer_object=bare, eos_token=_END, pad_token=_PAD, chat_template=_TEMPLATE)
    tokenizer.response_template = qwen3_template
    return tokenizer
