"""Trees of groups, cut from a dendrogram."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from baselines._dendrogram import Dendrogram

_LEAST = 2  # papers of a group of a flattened tree, where there are 4 or more in all

Split = Callable[[int], list[int]]
"""The nodes below a node of the dendrogram whose groups lie below its group."""


@dataclass(slots=True)
class Group:
    """Papers that belong together, by number.

    Attributes:
        papers: all of them, in order.
        children: the groups below it, the greatest first; of equals the one with the first paper.
        filed: the papers that are in none of the groups below it, in order.
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
        tree: the dendrogram.
        split: says what lies below a node; nothing for a group that is not divided.
        lift: whether the papers that `split` leaves out are filed under the group itself; else
            they go to the group below it with the nearest mean.
        most_groups: >= 2.
        most_levels: >= 1.
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
    """Divide a great group by undoing its highest merges, until it has `most` parts.

    Great is one of more than `most` papers and of more than a tenth of all, so that a map of many
    papers has about as many headings as that of a few.
    A merge of which a side is too small is passed over, and that side left out.
    """
    least = _least(tree)
    great = max(most, len(tree.papers[tree.root]) // 10)
    forks: dict[int, int | None] = {}

    def fork(node: int) -> int | None:
        """Return the first merge at or below `node` that has two sides that are great enough."""
        if node not in forks:
            at = node
            while tree.is_merge(at) and len(tree.papers[tree.sides[at][1]]) < least:
                at = tree.sides[at][0]
            forks[node] = at if tree.is_merge(at) else None
        return forks[node]

    def split(node: int) -> list[int]:
        parts = [node]
        if node != tree.root and len(tree.papers[node]) <= great:
            return []
        while len(parts) < most:
            found = [
                (tree.height[at], at, part) for part in parts if (at := fork(part)) is not None
            ]
            if not found:
                break
            _, at, part = max(found)
            parts.remove(part)
            parts += tree.sides[at]
        return parts if len(parts) > 1 else []

    return split


def by_inconsistency(tree: Dendrogram, threshold: float) -> Split:
    """Keep the merges whose inconsistency coefficient exceeds `threshold`.

    The coefficient (Jain and Dubes 1988, section 3.2) says how far the height of a merge is from
    the mean of its own and those of its sides, in standard deviations. A merge that is consistent
    hands its sides to the group above it; a node at and below which all are is not divided, as
    with ``scipy.cluster.hierarchy.fcluster(..., criterion="inconsistent")``.
    """
    least = _least(tree)
    worst = list(tree.jump)
    for node, sides in enumerate(tree.sides):
        if sides[0] >= 0:  # sides have lower numbers
            worst[node] = max(worst[node], worst[sides[0]], worst[sides[1]])

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
