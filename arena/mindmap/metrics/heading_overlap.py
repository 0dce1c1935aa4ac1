"""The headings of two maps: their overlap by meaning, and the entities that they name.

The metrics of headings take these arguments, and raise a DataError where the gold map has no label
below its root or, without ``clip``, where a cardinality is infinite or 0:

- predicted: The map that was made; its root's label does not count.
- gold: The survey's own.
- encoder: The name of a registered encoder, or an encoder.
- clip: Whether negative cosines count as 0. Without that any number can come out.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from arena._internal.options import choice
from arena._internal.process import one_thread
from arena.encoders import Encoder
from arena.errors import DataError
from arena.mindmap.extractors import Extractor
from arena.mindmap.metrics import MIND_MAP_METRICS, compared, entities, unit_vectors
from arena.mindmap.tree import MindMap

DENOMINATORS = ("gold", "paper")
"""What heading soft recall may be divided by: c(G), or c(P) as the paper prints it."""


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
    ``denominator="paper"`` divides by c(P), which makes it the soft precision.

    The range is [0, infinity), not [0, 1]: one label that lies between many counts as much of
    them, and a label between n orthogonal ones, at cosine 1 / sqrt(n) to each, has with n of
    them a soft intersection of sqrt(n). The gold map itself scores exactly 1, an empty prediction
    0. Nothing is cut off.

    Source: Fränti and Mariescu-Istodor, Soft precision and recall, Pattern Recognition Letters
    167, 2023; ResearchArena (arXiv:2406.10291), section 5. Its formula divides by c(P), the
    constructed map's, which STORM, where the metric comes from, does not.

    P = {a}, G = {a, b}, a and b orthogonal: c(P) = 1, c(G) = 2, c(P u G) = 2, so (1 + 2 - 2) / 2.
    """
    choice("denominator", denominator, DENOMINATORS)
    ours, theirs, shared = _cardinalities(predicted, gold, encoder, clip)
    return _share(shared, theirs if denominator == "gold" else ours)


@MIND_MAP_METRICS.register("heading_soft_precision")
def heading_soft_precision(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static", *, clip: bool = True
) -> float:
    """Soft overlap of the labels, relative to the predicted map's.

    Precision = (c(P) + c(G) - c(P u G)) / c(P); sets, cardinality, range [0, infinity) and source
    are those of `heading_soft_recall`. The gold map itself scores exactly 1, an empty prediction
    0.

    P = {a, b}, G = {a}, a and b orthogonal: c(P) = 2, c(G) = 1, c(P u G) = 2, so (2 + 1 - 2) / 2.
    """
    ours, _, shared = _cardinalities(predicted, gold, encoder, clip)
    return _share(shared, ours)


@MIND_MAP_METRICS.register("heading_soft_f1")
def heading_soft_f1(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static", *, clip: bool = True
) -> float:
    """Harmonic mean of soft recall and a precision that headings nearly alike cannot raise.

    F1 = 2 R P / (R + P), 0 if both are 0, where s = c(P) + c(G) - c(P u G) and

        R = min(1, s / c(G)),    P = min(1, s / max(c(P), c(G) n(P) / n(G)))

    with the number n of distinct labels of a map; sets, cardinality c and source are those of
    `heading_soft_recall`. It is not the harmonic mean of `heading_soft_recall` and
    `heading_soft_precision`. In [0, 1]; the gold map itself scores exactly 1, an empty prediction
    0.

    This is no metric of the paper, and meant for rewards. Soft recall alone is won by a list of
    common words. Soft precision is won by hundreds of headings that are nearly alike: they count as
    few things, and yet outweigh the survey's own in c(P u G). So the labels count here for as many
    things as they would be if they differed as those of the gold map do.

    P = {a, b}, G = {a}, a and b orthogonal: s = 1, R = 1, P = 1 / max(2, 2), so F1 = 2 / 3; and the
    same if b has the vector of a, where c(P) is 1 but n(P) is 2.
    """
    ours, theirs, shared = _cardinalities(predicted, gold, encoder, clip)
    labels = compared(predicted, gold)
    # The ratio first: for equal numbers it is exactly 1, and the gold map scores exactly 1.
    at_least = theirs * (len(labels[0]) / len(labels[1]))
    recall = min(1.0, _share(shared, theirs))
    precision = min(1.0, _share(shared, max(ours, at_least)))
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _cardinalities(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder, clip: bool
) -> tuple[float, float, float]:
    """Return c(P), c(G) and what P and G share; 1, 1 and 0 if P is empty."""
    ours, theirs = compared(predicted, gold)
    return _shared_cardinalities(ours, theirs, encoder, clip) if ours else (1.0, 1.0, 0.0)


def _share(shared: float, of: float) -> float:
    if not of:  # sums of positive and negative terms, without clip
        raise DataError("without clip, a soft cardinality is 0 here: use clip=True.")
    return shared / of


# TaxoBench, section 3.2: the root's label counts, too. A map without a heading below its root
# is no answer and scores 0.


@MIND_MAP_METRICS.register("node_soft_recall")
def node_soft_recall(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Soft overlap of the headings, relative to the gold map's: TaxoBench, equation 7.

    NSR = (c(T*) + c(T) - c(T* u T)) / c(T*), with the soft cardinality c of equation 6 over the
    distinct labels, negative cosines counted as 0 (`arena.mindmap.cardinality`). At least 0, 1 for
    the gold map; can exceed 1.
    """
    _, theirs, shared = _node_cardinalities(predicted, gold, encoder)
    return shared / theirs


@MIND_MAP_METRICS.register("node_soft_precision")
def node_soft_precision(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static"
) -> float:
    """Soft overlap of the headings, relative to the predicted map's: TaxoBench, equation 8.

    NSP = (c(T*) + c(T) - c(T* u T)) / c(T); see `node_soft_recall`.
    """
    ours, _, shared = _node_cardinalities(predicted, gold, encoder)
    return shared / ours


@MIND_MAP_METRICS.register("node_soft_f1")
def node_soft_f1(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Harmonic mean of node soft recall and precision: TaxoBench, equation 9.

    At least 0, 1 for the gold map. It can exceed 1 by a little: a label between two others makes a
    union count less than its parts.
    """
    ours, theirs, shared = _node_cardinalities(predicted, gold, encoder)
    return 2 * shared / (ours + theirs)


def _node_cardinalities(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder
) -> tuple[float, float, float]:
    """Return c(T), c(T*) and their overlap; 1, 1 and 0 without an answer."""
    if not predicted.size:
        return 1.0, 1.0, 0.0
    ours, theirs = ([node.label for node in tree.nodes()] for tree in (predicted, gold))
    return _shared_cardinalities(ours, theirs, encoder)


@MIND_MAP_METRICS.register("heading_entity_recall")
def heading_entity_recall(
    predicted: MindMap, gold: MindMap, extractor: str | Extractor = "spacy"
) -> float | None:
    """Share of the entities in the gold map's labels that stand in the predicted map's too.

    Recall = |E(G) n E(P)| / |E(G)|, where E(G) and E(P) are the entities found in the labels
    of the gold and the predicted map, without their roots'. Each label is read by itself; two
    entities are the same if their texts are, without regard to case and white space. In [0, 1];
    an empty prediction scores 0.

    Source: STORM (Shao et al. 2024, arXiv:2402.14207), section 3.2; ResearchArena
    (arXiv:2406.10291), section 5, with FLAIR (Akbik et al. 2019) for the entities. There A, the
    original map, is the one whose entities are to be found.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        extractor: The name of a registered extractor, or an extractor.

    Returns:
        The recall; None where the gold map has no entity, so that there is nothing to find.

    Raises:
        DataError: The gold map has no label below its root; the extractor's packages are absent.
        UnknownNameError: There is no such extractor.

    Example:
        >>> class Capitals:  # takes words with a capital for entities
        ...     def entities(self, labels):
        ...         return [{w for w in label.split() if w[0].isupper()} for label in labels]
        >>> gold = MindMap("", (MindMap("BERT in Berlin"), MindMap("other models")))
        >>> heading_entity_recall(MindMap("", (MindMap("What Bert does"),)), gold, Capitals())
        0.5
    """
    ours, theirs = compared(predicted, gold)
    wanted = entities(theirs, extractor)
    return len(wanted & entities(ours, extractor)) / len(wanted) if wanted else None


# Soft cardinality: how many different things a set of labels names

# Cosines are rounded to multiples of 2^-38: the sum of up to 2^15 of them, none above 1, is exact.
_GRID = float(1 << 38)
_MOST = 1 << 15
_ROWS = 512  # of the matrix of cosines at a time, so that it is never in memory as a whole


def cardinality(labels: Collection[str], encoder: str | Encoder, clip: bool = True) -> float:
    """Return the soft cardinality of a set of labels.

    Cardinality(S) = sum over i of 1 / (sum over j of sim(S_i, S_j)), sim = max(0, cosine), and
    sim(S_i, S_i) = 1 also for a label whose vector is zero. n labels that are orthogonal count n,
    n labels with the same vector count 1. With ``clip`` it lies in [1, n] for n > 0; for no label
    it is 0.

    Source: Fränti and Mariescu-Istodor, Soft precision and recall, Pattern Recognition Letters
    167, 2023; as in ResearchArena (arXiv:2406.10291), section 5.

    Args:
        labels: Repeated ones count once, blank ones do not count.
        encoder: The name of a registered encoder, or an encoder.
        clip: Whether negative cosines count as 0. Without that a cardinality can be any number:
            two labels at cosine -0.99 have one of 200.

    Raises:
        DataError: More than 32,768 labels; or, without ``clip``, a label whose similarities sum
            to 0.
    """
    return _shared_cardinalities(labels, (), encoder, clip)[0]


def _shared_cardinalities(
    first: Collection[str], second: Collection[str], encoder: str | Encoder, clip: bool = True
) -> tuple[float, float, float]:
    """Return the soft cardinalities of two sets of labels and of what they share.

    The last is Cardinality(A) + Cardinality(B) - Cardinality(A u B), with ``clip`` at least 0.
    Args and errors are those of `cardinality`. Neither the order of the labels nor the machine
    shows in the last digit.
    """
    a, b = ({label for label in labels if label.strip()} for labels in (first, second))
    labels = sorted(a | b)
    if len(labels) > _MOST:
        raise DataError(f"{len(labels):,} labels are too many to compare: at most {_MOST:,}.")
    if not labels:
        return 0.0, 0.0, 0.0
    members = np.array([[label in a, label in b, True] for label in labels], np.float64)
    sums = _sums(unit_vectors(labels, encoder), members, clip)
    ours, theirs, union = (_total(sums[inside > 0, i]) for i, inside in enumerate(members.T))
    shared = math.fsum((ours, theirs, -union))
    return ours, theirs, max(0.0, shared) if clip else shared  # its three parts are rounded


@one_thread()
def _sums(
    vectors: NDArray[np.float64], members: NDArray[np.float64], clip: bool
) -> NDArray[np.float64]:
    """Return each label's summed similarity to the members of each set, shape (labels, sets)."""
    sums = np.empty(members.shape)
    for low in range(0, len(vectors), _ROWS):
        rows = np.arange(low, min(low + _ROWS, len(vectors)))
        cosines = np.clip(vectors[rows] @ vectors.T, 0.0 if clip else -1.0, 1.0)
        cosines[rows - low, rows] = 1.0
        sums[rows] = np.rint(cosines * _GRID) @ members / _GRID
    return sums


def _total(sums: NDArray[np.float64]) -> float:
    if not sums.all():
        raise DataError(
            "without clip, the similarities of a label sum to 0, and the cardinality is infinite: "
            "use clip=True."
        )
    return math.fsum(1.0 / sums)
