"""Semantic paths: whether the headings above a paper mean the same in both maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.encoders import Encoder
from arena.mindmap._labels import unit_vectors
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("sem_path")
def sem_path(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float | None:
    """Mean over the gold map's papers of how alike the paths to them are.

    A paper scores the best `path_score` of its paths in both maps, with the cosine of labels as
    similarity; one that the predicted map leaves out scores 0. Paths lead from the root, which
    counts, to the heading of the paper. In [0, 1]; None if the gold map files no paper.

    Source: TaxoBench's released scorer, version 0.2.0, which compares labels as strings and leaves
    out papers that are missing.
    """
    theirs, ours = paths(gold), paths(predicted)
    if not theirs:
        return None
    labels = {node.label for tree in (predicted, gold) for node in tree.nodes()}
    named = sorted(label for label in labels if label.strip())
    vectors = dict(zip(named, unit_vectors(named, encoder), strict=True)) if named else {}

    def similarity(a: str, b: str) -> float:
        return (
            1.0 if a == b else float(vectors[a] @ vectors[b]) if {a, b} <= vectors.keys() else 0.0
        )

    best = [
        max(
            (path_score(a, b, similarity) for a in known_paths for b in ours.get(paper, ())),
            default=0.0,
        )
        for paper, known_paths in theirs.items()
    ]
    return sum(best) / len(best)


def paths(tree: MindMap) -> dict[str, list[list[str]]]:
    """Return paper -> the labels from the root to each heading that files it."""
    known: dict[str, list[list[str]]] = {}
    waiting: list[tuple[MindMap, list[str]]] = [(tree, [])]
    while waiting:
        node, above = waiting.pop()
        path = [*above, node.label]
        for paper in node.papers:
            known.setdefault(paper, []).append(path)
        waiting.extend((child, path) for child in reversed(node.children))
    return known


def path_score(
    gold: Sequence[str], predicted: Sequence[str], similarity: Callable[[str, str], float]
) -> float:
    """Return 1 / (1 + cost) of two paths of labels from the root down.

    Each label of the shorter path is put to one of the longer, in order, so that the sum of
    1 - max(0, similarity) is least; each label left over costs 1. The label of the shorter path is
    the first argument of `similarity`, of two equally long ones the expert's. In (0, 1].
    """
    short, long = (gold, predicted) if len(gold) <= len(predicted) else (predicted, gold)
    slack = len(long) - len(short)
    costs = [0.0] * (slack + 1)  # of the labels so far, with this many of the longer path skipped
    for i, label in enumerate(short):
        least = float("inf")
        for skipped in range(slack + 1):
            match = costs[skipped] + 1.0 - max(0.0, similarity(label, long[i + skipped]))
            costs[skipped] = least = min(least, match)
    return 1.0 / (1.0 + costs[-1] + slack) if short else 1.0 / (1.0 + slack)
