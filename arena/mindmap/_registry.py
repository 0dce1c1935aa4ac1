"""The registry of metrics, apart from the package's front so that metric modules can import it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from arena.errors import DataError, clip
from arena.registry import Registry

MindMapMetric = Callable[..., float | None]
"""A score of one mind-map against the survey's own: ``metric(predicted, gold)``.

What else it needs it says by the names of its parameters, and gets by keyword:

- ``encoder``: what makes labels comparable, the name of a registered encoder, whose vectors are
  kept, or an encoder (`arena.encoders.Encoder`);
- ``extractor``: what finds entities in labels, likewise (`arena.extractors.Extractor`).

Other parameters need a default. It returns the score, or None where the gold map has nothing that
the metric counts. The gold map has at least one label below its root.
"""

MIND_MAP_METRICS: Registry[MindMapMetric] = Registry(
    "mind-map metric",
    packages=["arena.mindmap.metrics"],
    entry_points="researcharena.mind_map_metrics",
)

_GIVEN = ("encoder", "extractor")


def needs(name: str) -> frozenset[str]:
    """Return which of ``encoder`` and ``extractor`` the metric of this name takes.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: It takes something else that has no default.
    """
    return _needs(name, MIND_MAP_METRICS.get(name))


@functools.lru_cache(256)
def _needs(name: str, metric: Callable[..., Any]) -> frozenset[str]:
    parameters = list(inspect.signature(metric).parameters.values())
    by_keyword = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = frozenset(p.name for p in parameters[2:] if p.name in _GIVEN and p.kind in by_keyword)
    for parameter in parameters[2:]:
        variadic = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.name not in given and not variadic and parameter.default is parameter.empty:
            raise DataError(
                f"the mind-map metric {clip(name)} wants {clip(parameter.name)}: after predicted "
                "and gold it can be given an encoder and an extractor, under these names."
            )
    return given
