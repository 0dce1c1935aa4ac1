"""A rubric: what a judge scores, on which scale, by which prompt, and how its answer is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.llm import Fields, ParseError, Template, as_json
from arena.llm.prompts import read_template
from arena.registry import Registry


@dataclass(frozen=True)
class Rubric:
    r"""Dimensions, a scale and a prompt.

    Args:
        name: Name in results.
        title: One line for lists.
        dimensions: Names of what is scored, in lower case.
        fields: Names of the texts that are judged; each is a field ``$name`` of the prompt.
        prompt: Template, see `arena.llm.Template`. It asks for a JSON object with a ``score`` and a
            ``reason`` for each dimension.
        scale: Lowest and highest score, whole numbers.

    Example:
        >>> prompt = "Does <a>$passage</a> support <b>$statement</b>? {\"support\": {\"score\": ..."
        >>> rubric = Rubric("r", "Title.", ("support",), ("passage", "statement"), prompt, (0, 1))
        >>> rubric.read('{"Support": {"reason": "It says so.", "score": "1"}}')
        {'support': (1, 'It says so.')}
    """

    name: str
    title: str
    dimensions: tuple[str, ...]
    fields: tuple[str, ...]
    prompt: str
    scale: tuple[int, int] = (1, 5)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.title)  # Registry.describe reads it

    def template(self, file: str | Path | None = None) -> Template:
        """Return the template of the prompt, or that of a user's file."""
        fields = Fields(self.fields)
        if file is not None:
            return read_template(file, fields)
        return Template(self.prompt, fields, f"the prompt of {self.name!r}")

    def read(self, text: str) -> dict[str, tuple[int, str]]:
        """Return dimension -> score and reason, which may be empty, in a model's answer.

        Names of dimensions may differ in case, blanks and hyphens, all may lie in one outer object,
        and a score may be a text ("4", "4/5", "4 (good)") with or without a reason.

        Raises:
            ParseError: The text holds no JSON object, or a dimension has no whole score in range.
        """
        found = _plain_keys(as_json(text))
        if len(found) == 1 and not found.keys() & set(map(_plain, self.dimensions)):
            found = _plain_keys(next(iter(found.values())))
        return {name: self._score(name, found.get(_plain(name))) for name in self.dimensions}

    def _score(self, name: str, value: Any) -> tuple[int, str]:
        reason, low, high = "", *self.scale
        if isinstance(value, dict):
            parts = _plain_keys(value)
            value = next((parts.pop(key) for key in ("score", "rating") if key in parts), None)
            reason = " ".join(
                " ".join(part for part in parts.values() if type(part) is str).split()
            )
        if isinstance(value, str):
            pattern = rf"\s*(-?\d{{1,9}})(\.0+)?\s*((/|out of)\s*{high})?\D*"
            match = re.fullmatch(pattern, value[:200])
            value = int(match[1]) if match else value
        if type(value) not in (int, float) or value != int(value) or not low <= value <= high:
            raise ParseError(f"{name} has no score that is a whole number from {low} to {high}.")
        return int(value), reason


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip().lower())


def _plain_keys(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParseError("It is no JSON object with the dimensions as its keys.")
    return {_plain(str(key)): part for key, part in value.items()}


RUBRICS: Registry[Rubric] = Registry(
    "rubric",
    packages=["arena.judging.rubrics"],
    entry_points="researcharena.rubrics",
    base=Rubric,
)
