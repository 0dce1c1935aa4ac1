"""TaxoBench's released scorer (version 0.2.0, head of August 2026), number for number.

It differs from the metrics of this project: docs/taxobench.md names each difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.mindmap.metrics.sem_path import path_score
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
