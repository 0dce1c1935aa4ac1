"""Metrics of mind-maps by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arena.encoders import Encoder
from arena.errors import DataError, clip
from arena.extractors import Extractor
from arena.mindmap._entities import named_extractor
from arena.mindmap._labels import compared
from arena.mindmap._memory import remembering
from arena.mindmap._registry import MIND_MAP_METRICS, needs
from arena.mindmap._vectors import named_encoder
from arena.mindmap.tree import MindMap


def evaluate(
    predicted: MindMap,
    gold: MindMap,
    names: Iterable[str],
    encoder: str | Encoder = "static",
    extractor: str | Extractor = "spacy",
) -> dict[str, float | None]:
    """Score one mind-map against the survey's own.

    The same maps give the same bits, whatever was scored before. What none of the metrics needs
    is not loaded.

    Args:
        predicted: The map that was made. One without labels is the worst there is.
        gold: The survey's own; has a label below its root.
        names: Names of metrics.
        encoder: The name of a registered encoder (its vectors are kept), or an encoder.
        extractor: The name of a registered extractor (its entities are kept), or an extractor.

    Returns:
        Score by name, in the order of `names`; None where the gold map has nothing that a metric
        counts.

    Raises:
        UnknownNameError: There is no such metric, or no encoder or extractor that one needs; the
            message suggests the nearest.
        DataError: The gold map has no label, or the packages of the encoder or the extractor
            are absent.
    """
    if isinstance(names, str):
        raise DataError(f"metric names {clip(names)}: expected a list of names, not one string.")
    metrics = {name: (MIND_MAP_METRICS.get(name), needs(name)) for name in names}
    # An unknown name is an error also where there is nothing to encode.
    for part, given, named in (("encoder", encoder, named_encoder),
                               ("extractor", extractor, named_extractor)):  # fmt: skip
        if isinstance(given, str) and any(part in wanted for _, wanted in metrics.values()):
            named(given)
    compared(predicted, gold)
    parts = {"encoder": encoder, "extractor": extractor}
    with remembering():
        return {
            name: metric(predicted, gold, **{part: parts[part] for part in sorted(wanted)})
            for name, (metric, wanted) in metrics.items()
        }


def identity(encoder: str = "static", extractor: str | None = None) -> dict[str, Any]:
    """Return what a record of scores must name besides the metrics: what compared the labels.

    Returns:
        ``encoder``, its name, and ``config``, all that shapes its vectors: the model, hashes of
        its files and, under ``runtime``, versions. With an extractor also ``extractor`` and
        ``extractor_config``.

    Raises:
        UnknownNameError: There is no such encoder or extractor.
        DataError: Its packages are absent.
    """
    told: dict[str, Any] = {"encoder": encoder, "config": dict(named_encoder(encoder).config)}
    if extractor is not None:
        config = dict(named_extractor(extractor).config)
        told |= {"extractor": extractor, "extractor_config": config}
    return told
