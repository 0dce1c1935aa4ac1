"""Vectors of texts, Ward's dendrogram of them, and trees of groups cut from it."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena.encoders import Encoder, make_encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(texts: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of texts, shape (n, dimension); a blank text has zeros.

    Args:
        texts: Texts without halves of surrogate pairs, see `whole_characters`.
        encoder: Name of a registered encoder, or an encoder.
    """
    import numpy as np

    model = shared_encoder(encoder) if isinstance(encoder, str) else encoder
    # Each text once, so that papers that are alike have the same vector to the last digit.
    distinct = {text: n for n, text in enumerate(dict.fromkeys(filter(str.strip, texts)))}
    vectors = np.zeros((len(texts), model.dimension))
    if distinct:
        rows = [place for place, text in enumerate(texts) if text in distinct]
        encoded = np.asarray(model.documents(list(distinct)), np.float64)
        vectors[rows] = encoded[[distinct[texts[place]] for place in rows]]
    return vectors


@functools.cache
def shared_encoder(name: str) -> Encoder:
    """Return the one encoder of this name in this process: a model is loaded once."""
    return make_encoder(name, {})


def whole_characters(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, which no encoder takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Vectors are rounded to multiples of 2^-20: squared distances are then exact sums, and vectors that
# differ in the last digits alone are equal.
_GRID = float(1 << 20)


class Dendrogram:
    """The merges of Ward's method over unit vectors (Ward 1963), by Euclidean distance.

    The nodes 0 to n - 1 are the papers, node n + i is the merge i, the last one is the root.

    Args:
        vectors: Array of shape (n, dimension), n >= 1; it is normalised here, zeros stay zeros.
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        import numpy as np
        from scipy.cluster.hierarchy import inconsistent, linkage

        vectors = np.asarray(vectors, np.float64)
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1.0
        self._points = np.rint(vectors / lengths * _GRID) / _GRID
        count = len(vectors)
        merges = linkage(self._points, method="ward") if count > 1 else np.empty((0, 4))
        jumps = inconsistent(merges)[:, 3] if count > 1 else np.empty(0)
        self.root = 2 * count - 2
        self.height = [0.0] * count + merges[:, 2].tolist()
        self.jump = [0.0] * count + jumps.tolist()
        self.sides: list[tuple[int, ...]] = [()] * count
        self.papers: list[tuple[int, ...]] = [(paper,) for paper in range(count)]
        for pair in merges[:, :2].astype(int).tolist():
            # The greater side first, then the one with the first paper.
            sides = sorted(pair, key=lambda node: (-len(self.papers[node]), self.papers[node][0]))
            self.sides.append(tuple(sides))
            self.papers.append(tuple(sorted(self.papers[sides[0]] + self.papers[sides[1]])))

    def is_merge(self, node: int) -> bool:
        """Return whether a node is a merge of papers that differ."""
        return bool(self.height[node] > 0)

    def nearest(self, paper: int, nodes: Sequence[int]) -> int:
        """Return the one of `nodes` whose mean is nearest to a paper; of equals the first."""
        import numpy as np

        means = np.stack([self._points[list(self.papers[node])].mean(axis=0) for node in nodes])
        distances = np.square(means - self._points[paper]).sum(axis=1).round(12)
        return nodes[int(distances.argmin())]


_LEAST = 2  # papers of a group of a flattened tree, where there are 4 or more in all

Split = Callable[[int], list[int]]
"""Function from a node of the dendrogram to the nodes whose groups lie below its group."""


@dataclass(slots=True)
class Group:
    """Papers that belong together, by number.

    Attributes:
        papers: All papers of the group, in order.
        children: Groups below it, the largest first; of equals the one with the first paper.
        filed: Papers that are in none of the groups below it, in order.
    """

    papers: tuple[int, ...]
    children: list[Group] = field(default_factory=list)
    filed: tuple[int, ...] = ()


def groups(
    tree: Dendrogram, split: Split, *, lift: bool, most_groups: int, most_levels: int
) -> Group:
    """Return the tree of groups that `split` makes of a dendrogram.

    Groups are divided in the order of their heights, the highest first, as long as there are at
    most `most_groups` below the root and at most `most_levels` of them one below the other.

    Args:
        tree: The dendrogram.
        split: Function from a node to the nodes below it; none for a group that is not divided.
        lift: Whether papers that `split` leaves out are filed under the group itself; otherwise
            they go to the group below it with the nearest mean.
        most_groups: Most groups below the root, >= 2.
        most_levels: Most levels of groups, >= 1.
    """
    root = Group(tree.papers[tree.root])
    made = 0
    waiting = [(-tree.height[tree.root], -tree.root, 0, root)]  # no two have the same node
    while waiting:
        _, node, level, group = heapq.heappop(waiting)
        below = split(-node) if level < most_levels else []
        if not below or made + len(below) > most_groups:
            group.filed = group.papers
            continue
        made += len(below)
        members = {child: list(tree.papers[child]) for child in below}
        strays = sorted(set(group.papers).difference(*members.values()))
        if lift:
            group.filed = tuple(strays)
        else:
            for paper, child in [(paper, tree.nearest(paper, below)) for paper in strays]:
                members[child].append(paper)
        children = [(Group(tuple(sorted(papers))), child) for child, papers in members.items()]
        children.sort(key=lambda pair: (-len(pair[0].papers), pair[0].papers))
        group.children = [child for child, _ in children]
        for below_it, child in children:
            heapq.heappush(waiting, (-tree.height[child], -child, level + 1, below_it))
    if not root.children:
        root.children, root.filed = [Group(root.papers, filed=root.papers)], ()
    return root


def binary(tree: Dendrogram) -> Split:
    """Keep every merge: its sides are the groups, single papers only at the root."""

    def split(node: int) -> list[int]:
        if not tree.is_merge(node):
            return []
        least = 1 if node == tree.root else 2
        return [side for side in tree.sides[node] if len(tree.papers[side]) >= least]

    return split


def by_children(tree: Dendrogram, most: int) -> Split:
    """Divide a large group by undoing its highest merges, until it has `most` parts.

    A group is large if it has more than `most` papers and more than a tenth of all, so that a map
    of many papers has about as many headings as that of a few. A merge with a side that is too
    small is skipped, and that side left out.
    """
    least = _least(tree)
    great = max(most, len(tree.papers[tree.root]) // 10)

    @functools.cache
    def fork(node: int) -> int | None:
        """Return the first merge at or below `node` with two sides that are large enough."""
        while tree.is_merge(node):
            if len(tree.papers[tree.sides[node][1]]) >= least:
                return node
            node = tree.sides[node][0]
        return None

    def split(node: int) -> list[int]:
        parts = [node]
        if node != tree.root and len(tree.papers[node]) <= great:
            return []
        while len(parts) < most:
            forks = [(tree.height[at], at, part) for part in parts if (at := fork(part))]
            if not forks:
                break
            _, at, part = max(forks)
            parts.remove(part)
            parts += tree.sides[at]
        return parts if len(parts) > 1 else []

    return split


def by_inconsistency(tree: Dendrogram, threshold: float) -> Split:
    """Keep the merges whose inconsistency coefficient exceeds `threshold`.

    The coefficient (Jain and Dubes 1988, section 3.2) says how far the height of a merge is from
    the mean of its own and those of its sides, in standard deviations. A merge that is consistent
    passes its sides to the group above it; a node with consistent merges alone is not divided, as
    with ``scipy.cluster.hierarchy.fcluster(..., criterion="inconsistent")``.
    """
    least = _least(tree)
    worst = list(tree.jump)
    for node, sides in enumerate(tree.sides):
        worst[node] = max([worst[node], *(worst[side] for side in sides)])  # lower numbers

    def split(node: int) -> list[int]:
        while worst[node] > threshold:
            parts, waiting = [], list(tree.sides[node])
            while waiting:
                at = waiting.pop()
                if tree.jump[at] <= threshold < worst[at]:
                    waiting += tree.sides[at]
                elif len(tree.papers[at]) >= least:
                    parts.append(at)
            if len(parts) != 1:
                return parts
            node = parts[0]
        return []

    return split


def _least(tree: Dendrogram) -> int:
    return _LEAST if len(tree.papers[tree.root]) > 3 else 1
