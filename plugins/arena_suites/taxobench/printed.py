"""The settings that made the TED, NSR, NSP and Soft F1 that the paper prints, number for number.

Scripts released before the scorer: ``metric/ted.py``, ``nsr.py``, ``nsp.py`` and ``soft_f1.py``.
Their encoder is all-MiniLM-L6-v2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.mindmap import cosines

Cosines = NDArray[np.float64]


class PrintedScores(NamedTuple):
    """The numbers of the scripts for one survey, equations 5 and 7 to 9."""

    normalised_ted: float = 1.0
    node_soft_recall: float = 0.0
    node_soft_precision: float = 0.0
    node_soft_f1: float = 0.0


def printed_scores(predicted: dict[str, Any], gold: dict[str, Any], encoder: str) -> PrintedScores:
    """Return the scripts' numbers for one survey; labels count as they are, repeated ones too."""
    (ours, firsts), (theirs, others) = _postorder(predicted), _postorder(gold)
    likeness = cosines([*theirs, *ours], [*theirs, *ours], encoder)
    place = len(theirs)
    expert, made = _cardinality(likeness[:place, :place]), _cardinality(likeness[place:, place:])
    shared = expert + made - _cardinality(likeness)
    recall, precision = (shared / each if each else 0.0 for each in (expert, made))
    distance = printed_distance(others, firsts, 1 - likeness[:place, place:])
    both = recall + precision
    f1 = 2 * recall * precision / both if both else 0.0
    return PrintedScores(distance / (len(theirs) + len(ours)), recall, precision, f1)


def _postorder(tree: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Return the labels in postorder, and the place of the leftmost leaf below each node."""
    labels, parents = list[str](), list[int]()
    waiting = [(tree, 0)]
    while waiting:  # a preorder from the right, which backwards is a postorder from the left
        node, parent = waiting.pop()
        children = node.get("subtopics")
        below = children if isinstance(children, list) else []
        waiting += [(child, len(labels)) for child in below if isinstance(child, dict)]
        labels.append(str(node.get("name", "")))
        parents.append(parent)
    sizes = [1] * len(labels)
    for number in range(len(labels) - 1, 0, -1):
        sizes[parents[number]] += sizes[number]
    return labels[::-1], [place - size + 1 for place, size in enumerate(reversed(sizes))]


def _cardinality(likeness: Cosines) -> float:
    """Return equation 6 with cosines as they are; a label that is like none in sum counts 0."""
    sums = likeness.sum(axis=1)
    return float((1 / sums[sums != 0]).sum())


def printed_distance(first: list[int], second: list[int], costs: Cosines) -> float:
    """Return Zhang and Shasha's distance of two trees with the script's wrong cell.

    Where two subtrees are put for each other, what stands before them must be taken without both;
    the script takes it without their roots alone, so that it counts their other nodes twice.

    Args:
        first: Place of the leftmost leaf below each node in postorder.
        second: The same of the other tree.
        costs: Of a new label, shape (nodes of the first, nodes of the second).
    """
    trees = np.zeros(costs.shape)
    for i in sorted({leaf: place for place, leaf in enumerate(first)}.values()):
        for j in sorted({leaf: place for place, leaf in enumerate(second)}.values()):
            top, left = first[i], second[j]
            forests = np.add.outer(np.arange(i - top + 2.0), np.arange(j - left + 2.0))
            for x in range(top, i + 1):
                for y in range(left, j + 1):
                    row, column = x - top, y - left
                    are_trees = first[x] == top and second[y] == left
                    forests[row + 1, column + 1] = min(
                        forests[row, column + 1] + 1,
                        forests[row + 1, column] + 1,
                        # the wrong cell: forests[first[x] - top, second[y] - left] is right
                        forests[row, column] + (costs if are_trees else trees)[x, y],
                    )
                    if are_trees:
                        trees[x, y] = forests[row + 1, column + 1]
    return float(trees[-1, -1])
