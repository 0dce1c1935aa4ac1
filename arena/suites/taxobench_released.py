"""TaxoBench's released scorer (version 0.2.0, head of August 2026), number for number.

It differs from the metrics of this project: docs/taxobench.md names each difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from arena.suites.titles import released_alignment, released_similarity

Path = list[str]


def released_scores(predicted: dict[str, Any], gold: dict[str, Any]) -> dict[str, float]:
    """Return the released scorer's numbers for one survey.

    Args:
        predicted: Tree of ``name``, ``subtopics`` and ``papers`` with titles.
        gold: The expert's.

    Returns:
        ``ari``, ``v_measure``, ``homogeneity``, ``completeness``, ``sem_path``, ``recall`` and
        ``precision``.
    """
    gold_nodes, predicted_nodes = list(nodes(gold)), list(nodes(predicted))
    return {
        **_clustering(gold_nodes, predicted_nodes),
        "sem_path": _sem_path(gold_nodes, predicted_nodes),
        **_retrieval(gold_nodes, predicted_nodes),
    }


Node = tuple[Path, list[str]]


def nodes(tree: Any) -> Iterator[Node]:
    """Yield the labels from the root to each node, and the titles under it, in preorder."""
    waiting: list[tuple[Any, Path]] = [(tree, [])]
    while waiting:
        node, above = waiting.pop()
        if not isinstance(node, dict):
            continue
        label = str(node.get("name", "")).strip()
        path = [*above, label] if label else above
        papers, children = node.get("papers"), node.get("subtopics")
        titles = [str(title) for title in papers if title] if isinstance(papers, list) else []
        yield path, titles
        if isinstance(children, list):
            waiting.extend((child, path) for child in reversed(children))


def _clustering(gold: Sequence[Node], predicted: Sequence[Node]) -> dict[str, float]:
    from sklearn import metrics

    names = ("ari", "v_measure", "homogeneity", "completeness")
    # A title in several leaves keeps its first place in the order, but belongs to the last leaf.
    theirs, ours = (
        {title: number for number, (_, titles) in enumerate(tree) for title in titles}
        for tree in (gold, predicted)
    )
    if len(theirs) < 2:
        return dict.fromkeys(names, 0.0)
    titles = list(ours)
    labels = [
        -1 if place is None else ours[titles[place]]
        for place in released_alignment(list(theirs), titles)
    ]
    true = list(theirs.values())
    h, c, v = metrics.homogeneity_completeness_v_measure(true, labels)
    values = (metrics.adjusted_rand_score(true, labels), v, h, c)
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _retrieval(gold: Sequence[Node], predicted: Sequence[Node]) -> dict[str, float]:
    theirs, ours = ([title for _, titles in tree for title in titles] for tree in (gold, predicted))
    hits = sum(place is not None for place in released_alignment(theirs, ours))
    return {
        "recall": hits / len(theirs) if theirs else 0.0,
        "precision": hits / len(ours) if ours else 0.0,
    }


def _sem_path(gold: Sequence[Node], predicted: Sequence[Node]) -> float:
    theirs, ours = _paths(gold), _paths(predicted)
    titles = list(ours)
    best = []
    for (_, paths), place in zip(
        theirs.items(), released_alignment(list(theirs), titles), strict=True
    ):
        if place is not None:
            others = ours[titles[place]]
            best.append(max(path_score(a, b, released_similarity) for a in paths for b in others))
    return sum(best) / len(best) if best else 0.0


def _paths(tree: Sequence[Node]) -> dict[str, list[Path]]:
    paths: dict[str, list[Path]] = {}
    for path, titles in tree:
        for title in titles:
            if title.strip():
                paths.setdefault(title.strip(), []).append(path)
    return paths


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
