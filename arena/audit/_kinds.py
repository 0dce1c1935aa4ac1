"""The environments to audit, as docs/environments.md has them, not as they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

RESEARCH = ("search", "read", "references", "citations", "select")
RANKING, MAP = (*RESEARCH, "submit", "finish"), (*RESEARCH, "organize", "finish")
ALL = (*RESEARCH, "submit", "organize", "finish")


class Kind(NamedTuple):
    """An environment to audit, as docs/environments.md has it."""

    id: str
    stages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    arguments: Mapping[str, Any] = {}
    given: bool = False
    vector: int = 0

    @property
    def same_step(self) -> bool:
        """Whether a new episode begins with the step that ends the old one."""
        return self.arguments.get("autoreset_mode") == "SameStep"

    @property
    def name(self) -> str:
        """The id, and what sets this one apart."""
        words = [f"{name}={value!r}" for name, value in self.arguments.items()]
        form = [f"vector of {self.vector}"] if self.vector else []
        return " ".join([self.id, *form, *words])


_ORGANIZATION = (("organization", "mind_map"),)
_WHOLE = (("discovery", "ranking"), ("selection", "ranking"), *_ORGANIZATION)
_SINGLE = (
    Kind("arena/Discovery-v0", (("discovery", "ranking"),), RANKING),
    Kind("arena/Selection-v0", (("selection", "ranking"),), RANKING),
    Kind("arena/Organization-v0", _ORGANIZATION, MAP, given=True),
    Kind("arena/Organization-v0", _ORGANIZATION, MAP, {"references": "found"}),
    Kind("arena/Survey-v0", _WHOLE, ALL),
)
_TIGHT = {"max_steps": 25, "max_searches": 5, "max_reads": 5, "max_characters": 30_000}
KINDS = (
    *_SINGLE,
    *(kind._replace(arguments={**kind.arguments, **_TIGHT}) for kind in _SINGLE[::4]),
    *(kind._replace(vector=4) for kind in _SINGLE),
    _SINGLE[-1]._replace(vector=4, arguments={"autoreset_mode": "SameStep", "max_steps": 25}),
)
"""Every id, alone and as a vector, and some with budgets that run out."""
