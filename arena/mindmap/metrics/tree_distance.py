"""Tree distances: how many nodes to insert, delete and relabel to get the survey's own map.

They raise a DataError if the maps are too large for an edit distance: more than 4,194,304 pairs of
nodes, or 2^31 steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.errors import DataError
from arena.metrics import ScoreContext, metric
from arena.mindmap.metrics import cosines
from arena.mindmap.tree import MindMap

# In millionths: vectors are rounded too, so that a cosine of 0.8 may come out a little above it.
_THRESHOLD = 800_000


@metric("tree_edit_distance", "map", lower_is_better=True)
def tree_edit_distance(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Least number of insertions, deletions and relabellings between two maps as ordered trees.

    0 is the best; at most the sum of the numbers of nodes, which the roots are not among: both
    maps get the same neutral root in place of their own, because some have none, and the wording
    of a title must not count. To delete a node is to put its children in its place. An empty
    prediction is as far away as the gold map has nodes.

    Source: Zhang and Shasha, Simple fast algorithms for the editing distance between trees and
    related problems, SIAM Journal on Computing 18(6), 1989; ResearchArena (arXiv:2406.10291),
    section 5. A whole number, not normalised, as in its table 3.

    Paper: ResearchArena, section 5; whether trees are ordered is not said.
    Released: no metrics in the authors' code.
    Here: ordered trees, the roots left out.

    Example:
        >>> a = MindMap("", (MindMap("x", (MindMap("y"), MindMap("z"))),))
        >>> b = MindMap("", (MindMap("y"), MindMap("w")))
        >>> tree_edit_distance(a, b)  # delete x, put w for z
        2.0
    """
    return edit_distance(predicted, gold, lambda: ~equal_labels(predicted, gold))


@metric("tree_semantic_distance", "map", lower_is_better=True, needs=["encoder"])
def tree_semantic_distance(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Tree edit distance in which a label costs nothing for one of nearly the same meaning.

    As `tree_edit_distance`, but to put one label for another costs 0 if they are equal or the
    cosine of their vectors exceeds 0.8, and else 1. The cosine is taken to six decimals, so that
    a pair at exactly 0.8 costs 1. Never more than `tree_edit_distance`, of the same source.

    Paper: ResearchArena, section 5: no cost for "editing operations involving nodes whose cosine
        similarity exceeds 0.8"; Sentence-BERT.
    Released: no metrics in the authors' code.
    Here: no cost for putting one such label for the other; insertions and deletions have no pair.
    """
    return edit_distance(predicted, gold, lambda: ~alike(predicted, gold, context.encoder))


def alike(predicted: MindMap, gold: MindMap, encoder: str | Encoder | None) -> NDArray[np.bool_]:
    """Return for each pair of labels whether they are equal or their cosine exceeds 0.8.

    The shape is (labels of `predicted`, labels of `gold`), as `MindMap.labels` orders them. A blank
    one is like its equals alone; without an encoder so are all.
    """
    same = equal_labels(predicted, gold)
    if encoder is not None:
        likeness = cosines(predicted.labels(), gold.labels(), encoder)
        same |= np.rint(likeness * 1e6) > _THRESHOLD
    return same


def equal_labels(predicted: MindMap, gold: MindMap) -> NDArray[np.bool_]:
    """Return for each pair of labels whether they are the same text."""
    rows, columns = (np.array(tree.labels(), object) for tree in (predicted, gold))
    same: NDArray[np.bool_] = np.equal.outer(rows, columns).astype(bool)
    return same


# Zhang and Shasha's algorithm, compiled by numba when it is first needed

_PAIRS = 1 << 22  # of nodes; two matrices hold 8 bytes for each
_STEPS = 1 << 31  # of the innermost loop


class _Shape(NamedTuple):
    """The nodes below a neutral root in postorder: numbers of their labels from 1, of the root 0.

    `first` is the leftmost leaf of each node's subtree; `keys` are the nodes whose subtrees the
    algorithm visits, the greatest for each leftmost leaf; `steps` counts the nodes of those.
    """

    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    keys: NDArray[np.int64]
    steps: int


def edit_distance(
    predicted: MindMap, gold: MindMap, relabel: Callable[[], NDArray[np.float64 | np.bool_]]
) -> float:
    """Return the edit distance below the roots, in which insertion and deletion cost 1.

    `relabel`, called if it is needed, returns the cost to put one label for the other, shape
    (labels of `predicted`, labels of `gold`), as `MindMap.labels` orders them; more than 2 is never
    paid.
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
    return float(_compiled()(*a[:3], *b[:3], costs))


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


@functools.cache
def _compiled() -> Callable[..., Any]:
    from arena.kit.kernels import kernel

    return kernel(_tree_distance)


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
