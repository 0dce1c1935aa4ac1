"""The registry of mind-map metrics; each module here holds some."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from arena.errors import DataError, clip
from arena.registry import Registry

MindMapMetric = Callable[..., float | None]
"""A score of one mind-map against the survey's own: ``metric(predicted, gold)``.

The names of its other parameters say what else it needs, and it gets these by keyword:

- ``encoder``: makes labels comparable: the name of a registered encoder, whose vectors are kept, or
  an encoder (`arena.encoders.Encoder`);
- ``extractor``: finds entities in labels, likewise (`arena.mindmap.extractors.Extractor`).

Every other parameter has a default. The metric returns the score, or None where the gold map has
nothing that the metric counts. The gold map has at least one label below its root.
"""

MIND_MAP_METRICS: Registry[MindMapMetric] = Registry(
    "mind-map metric",
    packages=["arena.mindmap.metrics"],
    entry_points="researcharena.mind_map_metrics",
)

_PARTS = frozenset({"encoder", "extractor"})


def needs(name: str) -> frozenset[str]:
    """Return which of ``encoder`` and ``extractor`` the metric of this name takes.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: The metric has another parameter without a default.
    """
    return takes(name) & _PARTS


def takes(name: str) -> frozenset[str]:
    """Return the names of all that the metric takes by keyword; raise as `needs` does."""
    return _takes(name, MIND_MAP_METRICS.get(name))


@functools.lru_cache(256)
def _takes(name: str, metric: Callable[..., Any]) -> frozenset[str]:
    parameters = list(inspect.signature(metric).parameters.values())[2:]
    taken = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    for p in parameters:
        has_default = p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        if not has_default and p.name not in taken & _PARTS:
            raise DataError(
                f"the mind-map metric {clip(name)} wants {clip(p.name)}: after predicted "
                "and gold it can be given an encoder and an extractor, under these names."
            )
    return frozenset(taken)
