"""The released scorer of TaxoBench (version 0.2.0, head of August 2026), number for number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from arena.kit.lazy import load
from arena_suites.taxobench.metrics import path_score

THRESHOLD = 0.92
"""Least similarity of two titles of one paper."""


class ReleasedScores(NamedTuple):
    """The scorer's numbers, in [0, 1]; `retrieval_f1` is the harmonic mean of the two before it."""

    ari: float = 0.0
    v_measure: float = 0.0
    homogeneity: float = 0.0
    completeness: float = 0.0
    sem_path: float = 0.0
    recall: float = 0.0
    precision: float = 0.0
    retrieval_f1: float = 0.0


def released_scores(
    predicted: dict[str, Any], gold: dict[str, Any], retrieved: Sequence[str] | None = None
) -> ReleasedScores:
    """Return the released scorer's numbers for one survey.

    `retrieved` are titles that recall and precision count in place of the tree's, if there are any.
    """
    gold_nodes, predicted_nodes = list(_nodes(gold)), list(_nodes(predicted))
    return ReleasedScores(
        **_clustering(gold_nodes, predicted_nodes),
        sem_path=_sem_path(gold_nodes, predicted_nodes),
        **_retrieval(gold_nodes, predicted_nodes, retrieved),
    )


Node = tuple[list[str], list[str]]


def _nodes(tree: Any) -> Iterator[Node]:
    """Yield the labels from the root to each node, and the titles under it, in preorder."""
    waiting: list[tuple[Any, list[str]]] = [(tree, [])]
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
    metrics = load("sklearn.metrics", "TaxoBench")
    names = ("ari", "v_measure", "homogeneity", "completeness")
    # A title in several leaves keeps its first place in the order, but belongs to the last leaf.
    theirs, ours = (
        {title: number for number, (_, titles) in enumerate(tree) for title in titles}
        for tree in (gold, predicted)
    )
    if len(theirs) < 2:
        return dict.fromkeys(names, 0.0)
    leaves = list(ours.values())
    places = released_alignment(list(theirs), list(ours))
    labels = [-1 if place is None else leaves[place] for place in places]
    true = list(theirs.values())
    h, c, v = metrics.homogeneity_completeness_v_measure(true, labels)
    values = (metrics.adjusted_rand_score(true, labels), v, h, c)
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _retrieval(
    gold: Sequence[Node], predicted: Sequence[Node], retrieved: Sequence[str] | None
) -> dict[str, float]:
    theirs, ours = ([title for _, titles in tree for title in titles] for tree in (gold, predicted))
    ours = list(retrieved or ours)
    hits = sum(place is not None for place in released_alignment(theirs, ours))
    return {
        "recall": hits / len(theirs) if theirs else 0.0,
        "precision": hits / len(ours) if ours else 0.0,
        "retrieval_f1": 2 * hits / (len(theirs) + len(ours)) if hits else 0.0,
    }


def _sem_path(gold: Sequence[Node], predicted: Sequence[Node]) -> float:
    theirs, ours = _paths(gold), _paths(predicted)
    others = list(ours.values())
    places = released_alignment(list(theirs), list(ours))
    best = [
        max(path_score(a, b, released_similarity) for a in paths for b in others[place])
        for paths, place in zip(theirs.values(), places, strict=True)
        if place is not None
    ]
    return sum(best) / len(best) if best else 0.0


def _paths(tree: Sequence[Node]) -> dict[str, list[list[str]]]:
    paths: dict[str, list[list[str]]] = {}
    for path, titles in tree:
        for title in titles:
            if title.strip():
                paths.setdefault(title.strip(), []).append(path)
    return paths


def normalised(title: str) -> str:
    """Return the title in lower case, with one blank for all but letters, digits and ``_``."""
    return " ".join(re.sub(r"\W", " ", title.lower()).split())


def released_similarity(a: str, b: str) -> float:
    """Return the similarity of two texts as TaxoBench's released scorer 0.2.0 takes it.

    1 if the normalised texts are equal or one contains the other, 0 if one is empty, else the ratio
    of `difflib.SequenceMatcher`, which depends on the order of the two. In [0, 1].
    """
    a, b = normalised(a), normalised(b)
    if not a or not b:
        return 0.0
    if a in b or b in a:
        return 1.0
    return SequenceMatcher(None, a, b).ratio()


def released_alignment(references: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """Return the place in `titles` of each reference, as TaxoBench's released scorer 0.2.0 does.

    In the order of the references, each takes the most similar title that is still free, the first
    of equals, if the similarity is at least 0.92.
    """
    free = dict(enumerate(titles))
    places: list[int | None] = []
    for reference in references:
        best, place = 0.0, None
        for candidate, title in free.items():
            similarity = released_similarity(reference, title)
            if similarity > best:
                best, place = similarity, candidate
        places.append(place if best >= THRESHOLD else None)
        if best >= THRESHOLD and place is not None:
            del free[place]
    return places
