"""Metrics of mind-maps by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arena.encoders import Encoder
from arena.errors import DataError, clip
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap._vectors import named_encoder
from arena.mindmap.tree import MindMap


def evaluate(
    predicted: MindMap, gold: MindMap, names: Iterable[str], encoder: str | Encoder = "static"
) -> dict[str, float]:
    """Score one mind-map against the survey's own.

    The same maps give the same bits, whatever was scored before.

    Args:
        predicted: The map that was made. One without labels scores 0.
        gold: The survey's own; has a label below its root.
        names: Names of metrics.
        encoder: The name of a registered encoder (its vectors are kept), or an encoder.

    Returns:
        Score by name, in the order of `names`.

    Raises:
        UnknownNameError: There is no such metric or encoder; the message suggests the nearest.
        DataError: The gold map has no label, or the encoder's packages are absent.
    """
    if isinstance(names, str):
        raise DataError(f"metric names {clip(names)}: expected a list of names, not one string.")
    metrics = {name: MIND_MAP_METRICS.get(name) for name in names}
    if isinstance(encoder, str):
        named_encoder(encoder)  # an unknown name is an error also where there is nothing to encode
    return {name: metric(predicted, gold, encoder) for name, metric in metrics.items()}


def identity(encoder: str = "static") -> dict[str, Any]:
    """Return what a record of scores must name besides the metrics: the encoder.

    Returns:
        ``encoder``, its name, and ``config``, all that shapes its vectors: the model, hashes of
        its files and, under ``runtime``, versions.

    Raises:
        UnknownNameError: There is no such encoder.
        DataError: Its packages are absent.
    """
    return {"encoder": encoder, "config": dict(named_encoder(encoder).config)}
