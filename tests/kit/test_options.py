"""Options are checked by annotations; a refusal names owner, option, value and what is expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Gt, Interval
from pydantic import Field

from arena.agents import AGENTS
from arena.encoders import ENCODERS
from arena.errors import DataError
from arena.kit.options import (
    check_options,
    parameters_of,
)
from arena.mindmap.extractors import EXTRACTORS
from arena.plugins import Registry, make
from arena.retrieval import RETRIEVERS
from arena.rewards import REWARDS
from corpus_builder.judges import JUDGES

THINGS: Registry[Callable[..., dict[str, Any]]] = Registry("thing", listed=False)


class Base:
    def __init__(self, seed: int = 0, model: str | None = None) -> None:
        self.given = {"seed": seed, "model": model}


@THINGS.register("thing")
class Thing(Base):
    def __init__(
        self,
        needed: str,
        k: Annotated[int, Interval(ge=1, le=20)] = 1,
        least: Annotated[int, Field(ge=1)] | None = None,
        share: Annotated[float, Interval(ge=0, le=1)] = 0.5,
        weights: Sequence[Annotated[float, Gt(0)]] = (),
        parts: Mapping[str, float] | None = None,
        fusion: Literal["rrf", "score"] = "rrf",
        lists: bool | Literal["auto"] = "auto",
        strict: bool = False,
    ) -> None:
        super().__init__()
        self.given |= {name: value for name, value in locals().items() if name != "self"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kk": 1}, "the thing thing has no option 'kk'. Did you mean 'k'?"),
        ({"k": 0}, "thing thing: k=0: give an integer from 1 to 20."),
        ({"least": -1}, "thing thing: least=-1: give an integer >= 1."),
        ({"share": math.nan}, "thing thing: share=nan: give a number from 0 to 1."),
        ({"parts": {"a": "b"}}, "thing thing: parts={'a': 'b'}: give a mapping, each a number."),
        ({"fusion": "rfr"}, "thing thing: fusion='rfr'. Did you mean 'rrf'?"),
        ({"lists": 1}, "thing thing: lists=1: give true or false, or 'auto'."),
    ],
)  # fmt: skip
def test_a_refusal(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        make(THINGS, "thing", {"needed": "x"} | options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "registry", [AGENTS, ENCODERS, EXTRACTORS, JUDGES, RETRIEVERS, REWARDS], ids=lambda r: r.kind
)
def test_the_default_of_every_option_fits_its_annotation(registry: Registry[Any]) -> None:
    for name in registry.names():
        factory = registry.get(name)
        defaults = {
            parameter.name: parameter.default
            for parameter in parameters_of(factory).values()
            if parameter.default is not parameter.empty
        }
        for parameter in parameters_of(factory).values():
            assert not isinstance(parameter.annotation, str), (name, parameter)
        needed = {p for p in parameters_of(factory) if p not in defaults}
        assert check_options(name, factory, defaults, tuple(needed)) == defaults
