"""What a judge finds in both surveys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from arena.bloom.base import JudgeFailedError, Pair
from arena.llm import Failed, ParseError, as_json
from arena.llm.schemas import TEXT, object_schema
from arena.report import chunks, spread
from arena.text import tokenize

CHUNK = 12_000
"""Characters of a survey in one request."""
OFFICIAL_CHUNK = 40_000
"""The same for `Tools.official`: the released code's 10,000 tokens, of 4 characters each."""


class Found(NamedTuple):
    """What the judge finds in one survey.

    Attributes:
        items: Key of the answers -> texts as the judge wrote them, in order, repeated ones too.
        text: The sentences of the survey.
        unread: Note on the parts whose answers could not be read; empty if all could.
    """

    items: dict[str, list[str]]
    text: str
    unread: str

    def holds(self, text: str) -> bool:
        """Return whether the survey has a text word for word, case and punctuation aside."""
        return f" {' '.join(tokenize(text))} " in f" {' '.join(tokenize(self.text))} "


def extract(pair: Pair, prompt: str, keys: Sequence[str]) -> dict[str, Found]:
    """Return what the judge lists in each survey, ``human`` and ``generated``, read in parts.

    Of a survey longer than `Tools.longest` it reads that many characters, evenly spread.

    Args:
        pair: The surveys.
        prompt: Name of the template, with the field ``text``.
        keys: Keys of the lists in its answers.

    Raises:
        JudgeFailedError: No part of a survey has a readable answer.
    """
    return pair.once(("extract", prompt), lambda: _extract(pair, prompt, keys))


def _extract(pair: Pair, prompt: str, keys: Sequence[str]) -> dict[str, Found]:
    size, most = OFFICIAL_CHUNK if pair.tools.official else CHUNK, None
    if pair.tools.longest is not None:
        size = min(size, pair.tools.longest)
        most = pair.tools.longest // size
    parts = [
        (side, text)
        for side, each in pair.sides.items()
        for text, _ in spread(list(chunks(each.report, size)), most)
    ]
    schema = object_schema(**{key: {"type": "array", "items": TEXT} for key in keys})
    answers = pair.ask(prompt, [{"text": text} for _, text in parts], partial(_read, keys), schema)
    found = {}
    for side, article in pair.sides.items():
        mine = [each for (of, _), each in zip(parts, answers, strict=True) if of == side]
        read = [each for each in mine if not isinstance(each, Failed)]
        if mine and not read:
            raise JudgeFailedError(f"the judge read no part of the {side} survey.")
        items = {key: [text for each in read for text in each[key]] for key in keys}
        lost = len(mine) - len(read)
        unread = f"({lost} of {len(mine)} parts not read)" if lost else ""
        found[side] = Found(items, " ".join(s.text for s in article.report.statements), unread)
    return found


def _read(keys: Sequence[str], text: str) -> dict[str, list[str]]:
    found = as_json(text)
    if isinstance(found, list) and len(keys) == 1:
        found = {keys[0]: found}
    if not isinstance(found, dict) or not any(isinstance(found.get(key), list) for key in keys):
        raise ParseError(f"It is no JSON object with lists under {', '.join(keys)}.")
    lists = {key: found[key] if isinstance(found.get(key), list) else [] for key in keys}
    return {
        key: [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]
        for key, items in lists.items()
    }
