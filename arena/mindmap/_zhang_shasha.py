"""The inner loops of the tree edit distance, compiled by numba; imported when first needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def tree_distance(  # type: ignore[no-untyped-def]
    labels_a, first_a, keys_a, labels_b, first_b, keys_b, free
) -> Any:
    """Return the least number of insertions, deletions and relabellings between two ordered trees.

    Nodes are numbered in postorder. The comments write T(x) for the subtree of node x.

    Args:
        labels_a: int64, the number of each node's label.
        first_a: int64, the first node of each T(x), which is its leftmost leaf.
        keys_a: int64, ascending: the greatest node for each leftmost leaf.
        labels_b: The same of the other tree.
        first_b: The same.
        keys_b: The same.
        free: bool (labels of a, labels of b): whether it costs nothing to put one for the other.
    """
    trees = np.zeros((len(first_a), len(first_b)), np.int32)
    # forests[x, y] is the distance of the nodes from first_a[i] to x - 1, and first_b[j] to y - 1.
    forests = np.zeros((len(first_a) + 1, len(first_b) + 1), np.int32)
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
                        relabel = 0 if free[labels_a[x], labels_b[y]] else 1
                        distance = min(distance, forests[x, y] + relabel)
                        trees[x, y] = distance
                    else:  # T(x) against T(y), and what stands before them
                        before = forests[first_a[x], first_b[y]]
                        distance = min(distance, before + trees[x, y])
                    forests[x + 1, y + 1] = distance
    return trees[-1, -1]
