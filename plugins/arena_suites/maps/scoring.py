"""Scores of many mind-maps by all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena import metrics
from arena.encoders import ENCODERS, Encoder
from arena.kit.terminal import progress
from arena.metrics import ENCODER, EXTRACTOR
from arena.mindmap import MindMap
from arena.mindmap.extractors import EXTRACTORS, Extractor
from arena.mindmap.metrics import entities, headings, kept, unit_vectors
from arena.mindmap.scoring import as_read, context_of, metric_names

Pair = tuple[MindMap, MindMap]


def score_pairs(
    pairs: Sequence[Pair],
    encoder: str | Encoder = ENCODER,
    extractor: str | Extractor | None = EXTRACTOR,
) -> list[dict[str, Any]]:
    """Score pairs of maps by all registered metrics, as `evaluate` scores one.

    Labels are encoded and read together, which changes no bit of a score. A progress bar appears
    on a terminal after two seconds. Where the gold map of a pair (predicted, gold) has no label
    below its root, all scores are None; without an extractor so are those that need one.

    Returns:
        A dictionary for each pair: the scores by name; ``nodes`` and ``merged`` (for ``gold`` and
        ``predicted`` the number of headings as they were scored, and of those merged with a sibling
        of the same label or left out as blank); ``model`` and ``extractor``, the names of the
        encoder and the extractor.
    """
    made = [(as_read(predicted), as_read(gold)) for predicted, gold in pairs]
    model, reader = _name("encoder", encoder), _name("extractor", extractor)
    scored, unscored = metric_names(extractor), dict.fromkeys(metric_names())
    context = context_of(encoder, extractor)
    # All labels at once, for encoders that take many together; what they make is kept.
    if labels := list(dict.fromkeys(x for pair in made for tree in pair for x in headings(tree))):
        unit_vectors(labels, context.encoder)
        if extractor is not None:
            entities(labels, context.extractor)
    records: list[dict[str, Any]] = []
    for predicted, gold in progress(made, desc="score", unit="map"):
        scores: dict[str, float | None] = dict(unscored)
        if headings(gold):
            scores |= metrics.evaluate(predicted, gold, scored, context)
        records.append(
            {
                **scores,
                "nodes": {"gold": gold.size, "predicted": predicted.size},
                "merged": {"gold": gold.merged, "predicted": predicted.merged},
                "model": model,
                "extractor": reader,
            }
        )
    return records


def _name(kind: str, plugin: str | Encoder | Extractor | None) -> str | None:
    """Return the name of a plug-in, or of its class if that is not registered."""
    if plugin is None:
        return None
    kept(kind, plugin)  # refuses an unknown name
    if isinstance(plugin, str):
        return plugin
    known: Any = ENCODERS if kind == "encoder" else EXTRACTORS
    registered = (name for name in known.names() if known.get(name) is type(plugin))
    return next(registered, type(plugin).__name__)
