"""Heading soft recall: how much of the survey's own headings a mind-map has."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.errors import DataError, did_you_mean
from arena.errors import clip as quoted
from arena.mindmap._cardinality import cardinalities
from arena.mindmap._labels import compared
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap

_DENOMINATORS = ("gold", "paper")


@MIND_MAP_METRICS.register("heading_soft_recall")
def heading_soft_recall(
    predicted: MindMap,
    gold: MindMap,
    encoder: str | Encoder = "static",
    *,
    denominator: str = "gold",
    clip: bool = True,
) -> float:
    """Soft overlap of the labels, relative to the gold map's.

    Recall = (c(P) + c(G) - c(P u G)) / c(G), where P and G are the sets of distinct labels of the
    predicted and the gold map, without their roots', and c is the soft cardinality
    (`arena.mindmap.cardinality`): c(S) = sum over i of 1 / sum over j of max(0, cos(S_i, S_j)).

    The range is [0, infinity), not [0, 1]: one label that lies between many counts as much of
    them, and a label between n orthogonal ones, at cosine 1 / sqrt(n) to each, has with n of
    them a soft intersection of sqrt(n). The gold map itself scores exactly 1, an empty prediction
    0. Nothing is cut off.

    Source: Fränti and Mariescu-Istodor, Soft precision and recall, Pattern Recognition Letters
    167, 2023; ResearchArena (arXiv:2406.10291), section 5. Its formula divides by c(P), the
    constructed map's, which STORM, where the metric comes from, does not.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.
        denominator: ``"gold"``: c(G). ``"paper"``: c(P), which makes it the soft precision.
        clip: Whether negative cosines count as 0. Without that any number can come out.

    Raises:
        DataError: The gold map has no label below its root; the denominator is no such name;
            without ``clip``, a cardinality is infinite.
        UnknownNameError: There is no such encoder.

    P = {a}, G = {a, b}, a and b orthogonal: c(P) = 1, c(G) = 2, c(P u G) = 2, so (1 + 2 - 2) / 2.
    """
    if denominator not in _DENOMINATORS:
        raise DataError(
            f"denominator={quoted(denominator)}.{did_you_mean(denominator, _DENOMINATORS)}"
        )
    ours, theirs = compared(predicted, gold)
    if not ours:
        return 0.0
    found = cardinalities(ours, theirs, encoder, clip)
    return found.share(found.second if denominator == "gold" else found.first)
