"""The edit distance of two ordered trees, compiled by numba; imported when first needed.

Source: Zhang and Shasha, Simple fast algorithms for the editing distance between trees and related
problems, SIAM Journal on Computing 18(6), 1989.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arena.errors import DataError
from arena.mindmap.tree import MindMap

_PAIRS = 1 << 22  # of nodes; two matrices hold 8 bytes for each
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
    predicted: MindMap, gold: MindMap, relabel: Callable[[], NDArray[np.float64 | np.bool_]]
) -> float:
    """Return the edit distance below the roots, in which insertion and deletion cost 1.

    Both trees get the same neutral root in place of their own. So the distance to a root alone is
    the number of nodes of the other, and the distance is at most the sum of the two numbers.

    Args:
        predicted: One map.
        gold: The other.
        relabel: Called if it is needed; returns an array of the shape (distinct labels of
            `predicted`, distinct labels of `gold`), as `MindMap.labels` orders them: the cost to
            put one for the other; more than 2 is never paid.

    Raises:
        DataError: The trees have more than 4,194,304 pairs of nodes, or are so deep that the
            algorithm takes more than 2^31 steps, which is a few seconds.
    """
    sizes = predicted.size, gold.size
    if not all(sizes):
        return float(sum(sizes))
    what = f"more than {_PAIRS:,} pairs of nodes"
    if is_small := (sizes[0] + 1) * (sizes[1] + 1) <= _PAIRS:
        # From the left or from the right the distance is the same, and on some trees one way takes
        # hundreds of times the steps of the other.
        ways = [(_shape(predicted, mirrored), _shape(gold, mirrored)) for mirrored in (False, True)]
        a, b = min(ways, key=lambda way: way[0].steps * way[1].steps)
        what = f"{a.steps * b.steps:,} steps for trees of this shape"
    if not is_small or a.steps * b.steps > _STEPS:
        raise DataError(
            f"maps of {sizes[0]:,} and {sizes[1]:,} nodes are too large for an edit distance: "
            f"{what}. Leave this metric out, or cut the maps at a depth."
        )
    costs = np.pad(relabel().astype(float), ((1, 0), (1, 0)), constant_values=1.0)
    costs[0, 0] = 0.0  # only the other root is free for the root
    return float(_tree_distance(*a[:3], *b[:3], costs))


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


@njit(cache=True, nogil=True)
def _tree_distance(  # type: ignore[no-untyped-def]
    labels_a, first_a, keys_a, labels_b, first_b, keys_b, costs
) -> Any:
    """Return the distance of two trees, each as in `_Shape`; T(x) is the subtree of node x."""
    trees = np.zeros((len(first_a), len(first_b)))
    # forests[x, y] is the distance of the nodes from first_a[i] to x - 1, and first_b[j] to y - 1.
    forests = np.zeros((len(first_a) + 1, len(first_b) + 1))
    for i in keys_a:
        for j in keys_b:
            top, left = first_a[i], first_b[j]
            forests[top, left] = 0
            for x in range(top, i + 1):
                forests[x + 1, left] = forests[x, left] + 1
            for y in range(left, j + 1):
                forests[top, y + 1] = forests[top, y] + 1
            for x in range(top, i + 1):
                for y in range(left, j + 1):
                    distance = min(forests[x, y + 1], forests[x + 1, y]) + 1
                    if first_a[x] == top and first_b[y] == left:  # both forests are trees
                        relabel = costs[labels_a[x], labels_b[y]]
                        distance = min(distance, forests[x, y] + relabel)
                        trees[x, y] = distance
                    else:  # T(x) against T(y), and what stands before them
                        before = forests[first_a[x], first_b[y]]
                        distance = min(distance, before + trees[x, y])
                    forests[x + 1, y + 1] = distance
    return trees[-1, -1]
