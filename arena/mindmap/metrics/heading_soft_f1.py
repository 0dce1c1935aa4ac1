"""Heading soft F1: recall and precision of the headings in one number that has a ceiling."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap._cardinality import cardinalities
from arena.mindmap._labels import compared
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("heading_soft_f1")
def heading_soft_f1(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static", *, clip: bool = True
) -> float:
    """Harmonic mean of heading soft recall and precision, each taken as at most 1.

    F1 = 2 R P / (R + P) with R = min(1, recall) and P = min(1, precision); 0 if both are 0. In
    [0, 1]; the gold map itself scores exactly 1, an empty prediction 0. Soft recall alone is won
    by a list of common words, and goes above what the gold map gets: hence this one for rewards.
    It is no metric of the paper; sets, cardinality and source of its parts are those of
    `heading_soft_recall`.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.
        clip: Whether negative cosines count as 0. Without that any number can come out.

    Raises:
        DataError: The gold map has no label below its root; without ``clip``, a cardinality is
            infinite.
        UnknownNameError: There is no such encoder.

    P = {a, b}, G = {a}, a and b orthogonal: recall is 1, precision 1 / 2, so F1 = 2 / 3.
    """
    ours, theirs = compared(predicted, gold)
    if not ours:
        return 0.0
    found = cardinalities(ours, theirs, encoder, clip)
    recall, precision = min(1.0, found.share(found.second)), min(1.0, found.share(found.first))
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0
