"""All scores of a map, or of many, in one dictionary each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from arena._internal.progress import progress
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError
from arena.errors import clip as quoted
from arena.extractors import EXTRACTORS, Extractor
from arena.mindmap._entities import entities, named_extractor
from arena.mindmap._memory import remembering
from arena.mindmap._vectors import named_encoder, unit_vectors
from arena.mindmap.metrics.heading_entity_recall import heading_entity_recall
from arena.mindmap.metrics.heading_soft_f1 import heading_soft_f1
from arena.mindmap.metrics.heading_soft_precision import heading_soft_precision
from arena.mindmap.metrics.heading_soft_recall import heading_soft_recall
from arena.mindmap.metrics.normalised_tree_edit_distance import normalised_tree_edit_distance
from arena.mindmap.metrics.normalised_tree_semantic_distance import (
    normalised_tree_semantic_distance,
)
from arena.mindmap.metrics.tree_edit_distance import tree_edit_distance
from arena.mindmap.metrics.tree_semantic_distance import tree_semantic_distance
from arena.mindmap.tree import MindMap
from arena.registry import Registry

SCORES = (
    "heading_soft_recall",
    "heading_soft_precision",
    "heading_entity_recall",
    "tree_edit_distance",
    "tree_semantic_distance",
    "normalised_tree_semantic_distance",
    "heading_soft_f1",
    "normalised_tree_edit_distance",
)
"""The metrics that `score_maps` gives."""

_LABELS = 8_192  # of pairs that are prepared together: half of the vectors that are kept
_SLICE = 512  # labels between two steps of the progress bar

Pair = tuple[MindMap, MindMap]


def score_maps(
    predicted: MindMap,
    gold: MindMap,
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    denominator: str = "gold",
    clip: bool = True,
) -> dict[str, Any]:
    """Score one map against the survey's own by all metrics of this package.

    Args:
        predicted: The map that was made.
        gold: The survey's own. Without a label below its root all scores are None: `evaluate`
            refuses such a map.
        encoder: The name of a registered encoder, or an encoder.
        extractor: The name of a registered extractor, or an extractor; None: no entities.
        denominator: Of heading soft recall: ``"gold"`` or ``"paper"``.
        clip: Whether negative cosines count as 0 in the soft metrics.

    Returns:
        The six scores ``heading_soft_recall``, ``heading_soft_precision``,
        ``heading_entity_recall`` (None where the gold map has no entity), ``tree_edit_distance``,
        ``tree_semantic_distance`` and ``normalised_tree_semantic_distance``; ``nodes`` (of
        ``gold`` and of ``predicted``); ``model`` and ``extractor``, the names; then
        ``heading_soft_f1``, ``normalised_tree_edit_distance``, ``options`` and ``sha256`` (of the
        two maps and of what the encoder and the extractor are made of).

    Raises:
        UnknownNameError: There is no such encoder or extractor.
        DataError: Packages are absent; an option is wrong; one is no mind-map; the maps are too
            large for an edit distance; without `clip`, a cardinality is infinite.
    """
    pairs = [(predicted, gold)]
    (found,) = score_pairs(pairs, encoder, extractor, denominator=denominator, clip=clip)
    return found


def score_pairs(
    pairs: Sequence[Pair],
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    denominator: str = "gold",
    clip: bool = True,
    names: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Return what `score_maps` returns, for each pair (predicted, gold); quicker than one by one.

    Labels are encoded and read together, which changes no bit of a score. A progress bar appears
    on a terminal after two seconds. An error begins with the entry of the pair in
    `names`.
    """
    # With an empty map it looks at its options alone.
    heading_soft_recall(MindMap(""), MindMap("", (MindMap("x"),)), denominator=denominator)
    _check_pairs(pairs, names)
    called = {"model": _name(encoder, ENCODERS), "extractor": _name(extractor, EXTRACTORS)}
    hashes = {
        "model": _config_sha256(named_encoder(encoder) if isinstance(encoder, str) else encoder),
        "extractor": _config_sha256(
            named_extractor(extractor) if isinstance(extractor, str) else extractor
        ),
    }
    options = {"denominator": denominator, "clip": clip}
    found: list[dict[str, Any]] = []
    with remembering(), progress(total=len(pairs), desc="score", unit="map") as bar:
        for some in _portions(pairs):
            _prepare(some, encoder, extractor)
            for predicted, gold in some:
                try:
                    scores = _scores(predicted, gold, encoder, extractor, denominator, clip)
                except DataError as error:
                    told = f"{names[len(found)]}: {error}" if names is not None else str(error)
                    raise DataError(told) from None
                maps = {"gold": _sha256(gold), "predicted": _sha256(predicted)}
                found.append({
                    **{name: scores[name] for name in SCORES[:6]},
                    "nodes": {"gold": gold.size, "predicted": predicted.size},
                    **called,
                    **{name: scores[name] for name in SCORES[6:]},
                    "options": options,
                    "sha256": maps | hashes,
                })  # fmt: skip
                bar.update()
    return found


def _check_pairs(pairs: Sequence[Pair], names: Sequence[str] | None) -> None:
    for place, pair in enumerate(pairs):
        where = names[place] if names is not None else f"pair {place + 1}"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataError(f"{where}: {quoted(pair)} is no pair of maps, (predicted, gold).")
        for side, tree in zip(("predicted", "gold"), pair, strict=True):
            if not isinstance(tree, MindMap):
                told = f"{where}: {side} {quoted(tree)}"
                raise DataError(f"{told}: expected a MindMap, as read_mind_map gives it.")


def _scores(
    predicted: MindMap,
    gold: MindMap,
    encoder: str | Encoder,
    extractor: str | Extractor | None,
    denominator: str,
    clip: bool,
) -> dict[str, float | None]:
    if not _told(gold):
        return dict.fromkeys(SCORES)
    maps = predicted, gold
    return {
        "heading_soft_recall": heading_soft_recall(
            *maps, encoder, denominator=denominator, clip=clip
        ),
        "heading_soft_precision": heading_soft_precision(*maps, encoder, clip=clip),
        "heading_soft_f1": heading_soft_f1(*maps, encoder, clip=clip),
        "heading_entity_recall": (
            None if extractor is None else heading_entity_recall(*maps, extractor)
        ),
        "tree_edit_distance": tree_edit_distance(*maps),
        "tree_semantic_distance": tree_semantic_distance(*maps, encoder),
        "normalised_tree_edit_distance": normalised_tree_edit_distance(*maps),
        "normalised_tree_semantic_distance": normalised_tree_semantic_distance(*maps, encoder),
    }


def _portions(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in portions whose labels are kept all at the same time."""
    some: list[Pair] = []
    labels: set[str] = set()
    for pair in pairs:
        more = labels.union(*map(_told, pair))
        if some and len(more) > _LABELS:
            yield some
            some, more = [], set().union(*map(_told, pair))
        some.append(pair)
        labels = more
    if some:
        yield some


def _prepare(
    pairs: Sequence[Pair], encoder: str | Encoder, extractor: str | Extractor | None
) -> None:
    """Have the labels of all maps encoded and read, at the same time; what is made is kept."""
    labels = list(dict.fromkeys(label for pair in pairs for tree in pair for label in _told(tree)))
    if not labels:
        return
    unit_vectors(labels[:1], encoder)  # models load one after the other
    reading = None
    with ThreadPoolExecutor(1) as pool:
        if extractor is not None:
            entities(labels[:1], extractor)
            reading = pool.submit(copy_context().run, entities, labels, extractor)
        for low in progress(range(0, len(labels), _SLICE), desc="headings"):
            unit_vectors(labels[low : low + _SLICE], encoder)
        if reading is not None:
            reading.result()


def _told(tree: MindMap) -> list[str]:
    return [label for label in tree.labels() if label.strip()]


def _name(plugin: str | Encoder | Extractor | None, known: Registry[Any]) -> str | None:
    if plugin is None or isinstance(plugin, str):
        return plugin
    registered = (name for name in known.names() if known.get(name) is type(plugin))
    return next(registered, type(plugin).__name__)


def _config_sha256(plugin: Encoder | Extractor | None) -> str | None:
    """Return a hash of what shapes the results of a plug-in, without versions of libraries."""
    config = getattr(plugin, "config", None)
    if config is None:
        return None
    shaping = {key: value for key, value in config.items() if key != "runtime"}
    return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()


def _sha256(tree: MindMap) -> str:
    rows = [[node.label, len(node.children), node.papers] for node in tree.nodes()]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
