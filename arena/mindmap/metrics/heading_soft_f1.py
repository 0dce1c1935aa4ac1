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
    """Harmonic mean of soft recall and a precision that headings nearly alike cannot raise.

    F1 = 2 R P / (R + P), 0 if both are 0, with s = c(P) + c(G) - c(P u G) and

        R = min(1, s / c(G)),    P = min(1, s / max(c(P), c(G) n(P) / n(G)))

    where n counts the distinct labels of a map. In [0, 1]; the gold map itself scores exactly 1,
    an empty prediction 0. Sets, cardinality c and source of the parts are those of
    `heading_soft_recall`; this is no metric of the paper, and meant for rewards. Soft recall alone
    is won by a list of common words. Soft precision is won by hundreds of headings that are nearly
    alike: they count as few things, and yet outweigh the survey's own in c(P u G). So the labels
    count here for as many things as they would be if they differed as those of the gold map do.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.
        clip: Whether negative cosines count as 0. Without that any number can come out.

    Raises:
        DataError: The gold map has no label below its root; without ``clip``, a cardinality is
            infinite.
        UnknownNameError: There is no such encoder.

    P = {a, b}, G = {a}, a and b orthogonal: s = 1, R = 1, P = 1 / max(2, 2), so F1 = 2 / 3; and the
    same if b has the vector of a, where c(P) is 1 but n(P) is 2.
    """
    ours, theirs = compared(predicted, gold)
    if not ours:
        return 0.0
    found = cardinalities(ours, theirs, encoder, clip)
    # The ratio first: for equal numbers it is exactly 1, and the gold map scores exactly 1.
    at_least = found.second * (len(ours) / len(theirs))
    recall = min(1.0, found.share(found.second))
    precision = min(1.0, found.share(max(found.first, at_least)))
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0
