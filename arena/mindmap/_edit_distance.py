"""The edit distance of two ordered trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError
from arena.mindmap._labels import check_maps
from arena.mindmap.tree import MindMap

_PAIRS = 1 << 22  # of nodes; two matrices hold 4 bytes for each
_STEPS = 1 << 31  # of the innermost loop


class _Shape(NamedTuple):
    """The nodes below a neutral root, in postorder, the root last.

    Attributes:
        labels: Number of each node's label from 1 on; 0 for the root.
        first: First node of each node's subtree, its leftmost leaf.
        keys: Nodes whose subtrees the algorithm visits: the greatest for each leftmost leaf.
        steps: Number of nodes in those subtrees.
    """

    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    keys: NDArray[np.int64]
    steps: int


def edit_distance(
    predicted: MindMap, gold: MindMap, same: Callable[[], NDArray[np.bool_]] | None = None
) -> int:
    """Return the edit distance below the roots, in which insertion and deletion cost 1.

    Both trees get the same neutral root in place of their own. So the distance to a root alone is
    the number of nodes of the other, and the distance is at most the sum of the two numbers.

    Source: Zhang and Shasha, Simple fast algorithms for the editing distance between trees and
    related problems, SIAM Journal on Computing 18(6), 1989; ordered trees.

    Args:
        predicted: One map.
        gold: The other.
        same: Called if it is needed; returns an array of the shape (distinct labels of
            `predicted`, distinct labels of `gold`), as `MindMap.labels` orders them: whether it
            costs nothing to put one for the other; else it costs 1. None: labels that are equal
            cost nothing.

    Raises:
        DataError: One is no map; the trees have more than 4,194,304 pairs of nodes, or are so
            deep that the algorithm takes more than 2^31 steps, which is a few seconds.
    """
    check_maps(predicted, gold)
    sizes = predicted.size, gold.size
    if not all(sizes):
        return sum(sizes)
    if (sizes[0] + 1) * (sizes[1] + 1) > _PAIRS:
        raise DataError(_too_large(sizes, f"more than {_PAIRS:,} pairs of nodes"))
    # From the left or from the right the distance is the same, and on some trees one way takes
    # hundreds of times the steps of the other.
    ways = [(_shape(predicted, mirrored), _shape(gold, mirrored)) for mirrored in (False, True)]
    a, b = min(ways, key=lambda way: way[0].steps * way[1].steps)
    if a.steps * b.steps > _STEPS:
        raise DataError(_too_large(sizes, f"{a.steps * b.steps:,} steps for trees of this shape"))
    if same is None:
        ours, theirs = (np.array(tree.labels(), object) for tree in (predicted, gold))
        equal = np.equal.outer(ours, theirs).astype(bool)
    else:
        equal = same()
    free = np.zeros((equal.shape[0] + 1, equal.shape[1] + 1), bool)
    free[0, 0], free[1:, 1:] = True, equal  # only the other root is free for the root
    from arena.mindmap._zhang_shasha import tree_distance

    return int(tree_distance(*a[:3], *b[:3], free))


def _too_large(sizes: tuple[int, int], what: str) -> str:
    return (
        f"maps of {sizes[0]:,} and {sizes[1]:,} nodes are too large for an edit distance: {what}. "
        "Leave this metric out, or cut the maps at a depth."
    )


def _shape(tree: MindMap, mirrored: bool) -> _Shape:
    numbers = {label: number for number, label in enumerate(tree.labels(), 1)}
    labels, parents = [0], [0]
    waiting = [(child, 0) for child in tree.children[:: -1 if mirrored else 1]]
    while waiting:  # a preorder from the right, which backwards is a postorder from the left
        node, parent = waiting.pop()
        waiting += [(child, len(labels)) for child in node.children[:: -1 if mirrored else 1]]
        labels.append(numbers[node.label])
        parents.append(parent)
    sizes = [1] * len(labels)
    for number in range(len(labels) - 1, 0, -1):
        sizes[parents[number]] += sizes[number]
    first = [place - size + 1 for place, size in enumerate(reversed(sizes))]
    keys = sorted({leaf: place for place, leaf in enumerate(first)}.values())
    steps = sum(place - first[place] + 1 for place in keys)
    return _Shape(np.array(labels[::-1]), np.array(first), np.array(keys), steps)
