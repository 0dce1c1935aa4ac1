"""The edit distance of two ordered trees, by the library `edist`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError, clip
from arena.mindmap.tree import MindMap

# edist has three matrices of 8 bytes a pair of nodes, and asks for the cost of each pair.
_PAIRS = 1 << 22
# Its innermost loop takes about 5 ns.
_STEPS = 1 << 31


class _Shape(NamedTuple):
    """The nodes below a neutral root, numbered from 1 in preorder.

    `labels` has no entry for the root, `children` has one for each node.
    """

    labels: list[str]
    children: list[list[int]]
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
            deep that the algorithm takes more than 2^31 steps, which is about 10 seconds.
    """
    for name, tree in (("predicted", predicted), ("gold", gold)):
        if not isinstance(tree, MindMap):
            raise DataError(f"{name} {clip(tree)}: expected a MindMap, as read_mind_map gives it.")
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
    return _exact(a, b) if same is None else _by_pairs(a, b, predicted, gold, same())


def _too_large(sizes: tuple[int, int], what: str) -> str:
    return (
        f"maps of {sizes[0]:,} and {sizes[1]:,} nodes are too large for an edit distance: {what}. "
        "Leave this metric out, or cut the maps at a depth."
    )


def _exact(a: _Shape, b: _Shape) -> int:
    from edist import ted

    numbers: dict[str, int] = {}
    nodes = [
        [0, *(numbers.setdefault(label, len(numbers) + 1) for label in tree.labels)]
        for tree in (a, b)
    ]
    return int(ted.standard_ted(nodes[0], a.children, nodes[1], b.children))


def _by_pairs(
    a: _Shape, b: _Shape, predicted: MindMap, gold: MindMap, same: NDArray[np.bool_]
) -> int:
    from edist import ted

    # The root, 0, has its like in the other root alone.
    free = np.zeros((same.shape[0] + 1, same.shape[1] + 1), bool)
    free[0, 0], free[1:, 1:] = True, same
    costs: list[list[int]] = np.where(free, 0, 1).tolist()
    nodes = [_numbered(tree.labels, labels) for tree, labels in
             ((a, predicted.labels()), (b, gold.labels()))]  # fmt: skip

    def cost(x: int | None, y: int | None) -> int:
        return 1 if x is None or y is None else costs[x][y]

    return int(ted.ted(nodes[0], a.children, nodes[1], b.children, cost))


def _numbered(labels: Sequence[str], distinct: Sequence[str]) -> list[int]:
    numbers = {label: number for number, label in enumerate(distinct, 1)}
    return [0, *(numbers[label] for label in labels)]


def _shape(tree: MindMap, mirrored: bool) -> _Shape:
    """Return the shape in preorder, and how many subtree nodes the algorithm visits.

    It computes a distance anew below every node that is not the last child of its parent.
    """
    labels: list[str] = []
    children: list[list[int]] = [[]]
    begins = []  # of what is visited anew: all subtrees but those of last children
    waiting = [(child, 0, place) for place, child in _outermost_last(tree, mirrored)]
    while waiting:
        node, parent, is_last = waiting.pop()
        number = len(children)
        labels.append(node.label)
        children[parent].append(number)
        children.append([])
        if not is_last:
            begins.append(number)
        waiting += [(child, number, last) for last, child in _outermost_last(node, mirrored)]
    sizes = [1] * len(children)
    for number in range(len(children) - 1, -1, -1):
        sizes[number] += sum(sizes[child] for child in children[number])
    return _Shape(labels, children, len(children) + sum(sizes[number] for number in begins))


def _outermost_last(node: MindMap, mirrored: bool) -> list[tuple[bool, MindMap]]:
    """Return (is the last one, child) for a stack, from which the first child comes first."""
    ordered = node.children if mirrored else node.children[::-1]
    return [(place == 0, child) for place, child in enumerate(ordered)]
