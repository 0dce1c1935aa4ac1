"""The numbers of TaxoBench's released code, number for number.

First its scorer (version 0.2.0, head of August 2026), then the scripts released before it, which
made the TED, NSR, NSP and Soft F1 that the paper prints: ``metric/ted.py``, ``nsr.py``, ``nsp.py``
and ``soft_f1.py``. Their encoder is all-MiniLM-L6-v2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.kit.lazy import load
from arena.mindmap import cosines
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


Cosines = NDArray[np.float64]


class PrintedScores(NamedTuple):
    """The numbers of the scripts for one survey, equations 5 and 7 to 9."""

    normalised_ted: float = 1.0
    node_soft_recall: float = 0.0
    node_soft_precision: float = 0.0
    node_soft_f1: float = 0.0


def printed_scores(predicted: dict[str, Any], gold: dict[str, Any], encoder: str) -> PrintedScores:
    """Return the scripts' numbers for one survey; labels count as they are, repeated ones too."""
    (ours, firsts), (theirs, others) = _postorder(predicted), _postorder(gold)
    likeness = cosines([*theirs, *ours], [*theirs, *ours], encoder)
    place = len(theirs)
    expert, made = _cardinality(likeness[:place, :place]), _cardinality(likeness[place:, place:])
    shared = expert + made - _cardinality(likeness)
    recall, precision = (shared / each if each else 0.0 for each in (expert, made))
    distance = printed_distance(others, firsts, 1 - likeness[:place, place:])
    both = recall + precision
    f1 = 2 * recall * precision / both if both else 0.0
    return PrintedScores(distance / (len(theirs) + len(ours)), recall, precision, f1)


def _postorder(tree: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Return the labels in postorder, and the place of the leftmost leaf below each node."""
    labels, parents = list[str](), list[int]()
    waiting = [(tree, 0)]
    while waiting:  # a preorder from the right, which backwards is a postorder from the left
        node, parent = waiting.pop()
        children = node.get("subtopics")
        below = children if isinstance(children, list) else []
        waiting += [(child, len(labels)) for child in below if isinstance(child, dict)]
        labels.append(str(node.get("name", "")))
        parents.append(parent)
    sizes = [1] * len(labels)
    for number in range(len(labels) - 1, 0, -1):
        sizes[parents[number]] += sizes[number]
    return labels[::-1], [place - size + 1 for place, size in enumerate(reversed(sizes))]


def _cardinality(likeness: Cosines) -> float:
    """Return equation 6 with cosines as they are; a label that is like none in sum counts 0."""
    sums = likeness.sum(axis=1)
    return float((1 / sums[sums != 0]).sum())


def printed_distance(first: list[int], second: list[int], costs: Cosines) -> float:
    """Return Zhang and Shasha's distance of two trees with the script's wrong cell.

    Where two subtrees are put for each other, what stands before them must be taken without both;
    the script takes it without their roots alone, so that it counts their other nodes twice.

    Args:
        first: Place of the leftmost leaf below each node in postorder.
        second: The same of the other tree.
        costs: Of a new label, shape (nodes of the first, nodes of the second).
    """
    trees = np.zeros(costs.shape)
    for i in sorted({leaf: place for place, leaf in enumerate(first)}.values()):
        for j in sorted({leaf: place for place, leaf in enumerate(second)}.values()):
            top, left = first[i], second[j]
            forests = np.add.outer(np.arange(i - top + 2.0), np.arange(j - left + 2.0))
            for x in range(top, i + 1):
                for y in range(left, j + 1):
                    row, column = x - top, y - left
                    are_trees = first[x] == top and second[y] == left
                    forests[row + 1, column + 1] = min(
                        forests[row, column + 1] + 1,
                        forests[row + 1, column] + 1,
                        # the wrong cell: forests[first[x] - top, second[y] - left] is right
                        forests[row, column] + (costs if are_trees else trees)[x, y],
                    )
                    if are_trees:
                        trees[x, y] = forests[row + 1, column + 1]
    return float(trees[-1, -1])
