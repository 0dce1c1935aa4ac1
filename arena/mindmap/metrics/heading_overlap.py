"""The headings of two maps: their overlap by meaning, and the entities that they name."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.errors import DataError
from arena.kit.process import one_thread
from arena.metrics import ScoreContext, metric
from arena.mindmap.metrics import entities, headings, unit_vectors
from arena.mindmap.tree import MindMap


@metric("heading_soft_recall", "map", needs=["encoder"])
def heading_soft_recall(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Soft overlap of the labels, relative to the gold map's.

    Recall = (c(P) + c(G) - c(P u G)) / c(G), where P and G are the distinct labels of the predicted
    and the gold map, without their roots', and c is the soft cardinality
    (`arena.mindmap.cardinality`). In [0, infinity): a label at cosine 1 / sqrt(n) to each of n
    orthogonal ones has with them a soft intersection of sqrt(n). The gold map itself scores exactly
    1, an empty prediction 0.

    Source: that of `cardinality`; ResearchArena's formula divides by c(P), the constructed map's,
    which STORM, where the metric comes from, does not: see `heading_soft_recall_paper`.

    Paper: ResearchArena, section 5, divides by the constructed map's cardinality; Sentence-BERT.
    Released: no metrics in the authors' code.
    Here: divided by the original map's, as in STORM; negative cosines count as 0; any encoder,
        ``static`` by default.
    """
    _, theirs, shared = shared_cardinalities(headings(predicted), headings(gold), context.encoder)
    return shared / theirs


@metric("heading_soft_recall_paper", "map", needs=["encoder"])
def heading_soft_recall_paper(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Soft overlap of the labels as ResearchArena's section 5 writes it: a precision.

    (c(A) + c(B) - c(A u B)) / c(B), where A is the original map and B the constructed one; the rest
    is as in `heading_soft_recall`. In [0, infinity); 0 for an empty prediction.

    Paper: ResearchArena, section 5; Sentence-BERT.
    Released: no metrics in the authors' code.
    Here: that formula; negative cosines count as 0; any encoder, ``static`` by default.
    """
    ours, _, shared = shared_cardinalities(headings(predicted), headings(gold), context.encoder)
    return shared / ours if ours else 0.0


@metric("heading_entity_recall", "map", needs=["extractor"])
def heading_entity_recall(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Share of the entities in the gold map's labels that stand in the predicted map's too.

    Recall = |E(G) n E(P)| / |E(G)|, where E(G) and E(P) are the entities found in the labels
    of the gold and the predicted map, without their roots'. Each label is read by itself; two
    entities are the same if their texts are, without regard to case and white space. In [0, 1];
    an empty prediction scores 0. None where the gold map has no entity.

    Source: STORM (Shao et al. 2024, arXiv:2402.14207), section 3.2; ResearchArena
    (arXiv:2406.10291), section 5, with FLAIR (Akbik et al. 2019) for the entities. There A, the
    original map, is the one whose entities are to be found.

    Paper: ResearchArena, section 5; FLAIR.
    Released: no metrics in the authors' code.
    Here: that formula; any extractor, ``spacy`` by default. A topic without an entity has none.
    """
    wanted = entities(headings(gold), context.extractor)
    found = entities(headings(predicted), context.extractor)
    return len(wanted & found) / len(wanted) if wanted else None


# Soft cardinality: how many different things a set of labels names

# Cosines are rounded to multiples of 2^-38: the sum of up to 2^15 of them, none above 1, is exact.
_GRID = float(1 << 38)
_MOST = 1 << 15
_ROWS = 512  # of the matrix of cosines at a time, so that it is never in memory as a whole


def cardinality(labels: Collection[str], encoder: str | Encoder) -> float:
    """Return the soft cardinality of a set of labels, at most 32,768; blank ones do not count.

    Cardinality(S) = sum over i of 1 / (sum over j of sim(S_i, S_j)), sim = max(0, cosine), and
    sim(S_i, S_i) = 1 also for a label whose vector is zero. n labels that are orthogonal count n,
    n labels with the same vector count 1. It lies in [1, n] for n > 0; for no label it is 0.

    Source: Fränti and Mariescu-Istodor, Soft precision and recall, Pattern Recognition Letters
    167, 2023; as in ResearchArena (arXiv:2406.10291), section 5.
    """
    return shared_cardinalities(labels, (), encoder)[0]


def shared_cardinalities(
    first: Collection[str], second: Collection[str], encoder: str | Encoder
) -> tuple[float, float, float]:
    """Return the soft cardinalities c of two sets of labels, and c(A) + c(B) - c(A u B), >= 0."""
    a, b = ({label for label in labels if label.strip()} for labels in (first, second))
    labels = sorted(a | b)
    if len(labels) > _MOST:
        raise DataError(f"{len(labels):,} labels are too many to compare: at most {_MOST:,}.")
    if not labels:
        return 0.0, 0.0, 0.0
    members = np.array([[label in a, label in b, True] for label in labels], np.float64)
    sums = _sums(unit_vectors(labels, encoder), members)
    ours, theirs, union = (
        math.fsum(1.0 / sums[inside > 0, i]) for i, inside in enumerate(members.T)
    )
    return ours, theirs, max(0.0, math.fsum((ours, theirs, -union)))  # its parts are rounded


@one_thread()
def _sums(vectors: NDArray[np.float64], members: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each label's summed similarity to the members of each set, shape (labels, sets)."""
    sums = np.empty(members.shape)
    for low in range(0, len(vectors), _ROWS):
        rows = np.arange(low, min(low + _ROWS, len(vectors)))
        cosines = np.clip(vectors[rows] @ vectors.T, 0.0, 1.0)
        cosines[rows - low, rows] = 1.0
        sums[rows] = np.rint(cosines * _GRID) @ members / _GRID
    return sums
