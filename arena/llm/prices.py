"""What tokens cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip, did_you_mean
from arena.llm.answers import Usage

DEFAULT = Path(__file__).with_name("prices.yaml")


class Price(NamedTuple):
    """Dollars for one million tokens; `cached` are those of a prompt that the server had before."""

    prompt: float
    completion: float
    cached: float | None = None

    def of(self, usage: Usage) -> float | None:
        """Return dollars, or None where the server did not count the tokens.

        >>> Price(prompt=2, completion=10, cached=1).of(Usage(1000, 100, 500))
        0.0025
        """
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        less = self.prompt if self.cached is None else self.cached
        micro = (usage.prompt - cached) * self.prompt + cached * less
        return (micro + usage.completion * self.completion) / 1e6


def price_of(model: str, prices: str | Path | Mapping[str, Any] | None) -> Price | None:
    """Return the price of `model`, or None if no table knows exactly this name.

    Args:
        model: as it is asked for.
        prices: a YAML file or a table like prices.yaml, which goes before that one.

    Raises:
        DataError: if there is no such file, or an entry is no price.
    """
    if prices is not None:
        own = _read(prices) if isinstance(prices, str | Path) else prices
        if model in own:
            return _price(model, own[model])
    default = _read(DEFAULT)
    return _price(model, default[model]) if model in default else None


def _read(path: str | Path) -> Mapping[str, Any]:
    import yaml

    try:
        table = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(
            f"the prices {str(path)!r} cannot be read: {clip(str(error), 200)}."
        ) from None
    if not isinstance(table, dict):
        raise DataError(f"the prices {str(path)!r} are no table of models.")
    return table


def _price(model: str, entry: Any) -> Price:
    if not isinstance(entry, Mapping):
        raise DataError(f"the price of {clip(model)} is {clip(entry)}: give prompt and completion.")
    for name in entry:
        if name not in Price._fields:
            raise DataError(
                f"the price of {clip(model)} has {clip(name)}.{did_you_mean(name, Price._fields)}"
            )
    for name in ("prompt", "completion", *entry):
        value: Any = entry.get(name)
        if type(value) not in (int, float) or not (value >= 0 and math.isfinite(value)):
            raise DataError(
                f"the price of {clip(model)} has {name}={clip(value)}: give dollars for one "
                "million tokens, 0 or more."
            )
    return Price(**entry)
