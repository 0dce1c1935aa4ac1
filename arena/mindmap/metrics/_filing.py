"""How papers are filed: the leaves of two mind-maps, whatever their labels say.

TaxoBench, section 3.1. The papers of the gold map count. Each belongs to the node under which it is
filed; of several nodes the first in preorder counts, and inner nodes are nodes like others. The
papers that the predicted map leaves out form one group of their own. A map that files none of them
has no answer and scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.mindmap.tree import MindMap


def first_places(tree: MindMap) -> dict[str, int]:
    """Return the number, in preorder, of the first node under which each paper is filed."""
    places: dict[str, int] = {}
    for number, node in enumerate(tree.nodes()):
        for paper in node.papers:
            places.setdefault(paper, number)
    return places


def overlap(predicted: MindMap, gold: MindMap) -> int:
    """Return the number of papers that both maps file."""
    return len(set(predicted.all_papers()) & set(gold.all_papers()))


def agreement(
    predicted: MindMap, gold: MindMap, score: Callable[[Sequence[int], Sequence[int]], float]
) -> float | None:
    """Return the score of the gold groups and the predicted ones; None without gold papers."""
    theirs, ours = first_places(gold), first_places(predicted)
    if not theirs:
        return None
    if not theirs.keys() & ours.keys():
        return 0.0
    return float(score(list(theirs.values()), [ours.get(paper, -1) for paper in theirs]))
