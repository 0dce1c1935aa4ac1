"""TaxoBench's released scorer (version 0.2.0, head of August 2026), number for number.

It differs from the metrics of this project: docs/taxobench.md names each difference. `alignment`,
which finds the papers that two trees name by their titles, is the project's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from arena.mindmap.metrics.filing import path_score

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


# Papers of two trees that are named by their titles: which is which

THRESHOLD = 0.92
"""Least similarity of two titles of one paper, as in TaxoBench's released scorer."""


def normalised(title: str) -> str:
    """Return the title in lower case, with one blank for all that is no letter, digit or ``_``."""
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


def alignment(references: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """Return the place in `titles` of each reference: equal titles first, then the most similar.

    Titles are compared in their normalised form. First every reference takes the first free title
    that equals its own; then the most similar of the remaining pairs, down to a ratio of 0.92, are
    joined, ties in the order of the references and of the titles. A title that contains another is
    another paper ("Attention" and "Attention is all you need").
    """
    keys = [normalised(title) for title in references]
    others = [normalised(title) for title in titles]
    places: list[int | None] = []
    free: dict[str, list[int]] = {}
    for place, other in enumerate(others):
        free.setdefault(other, []).append(place)
    for key in keys:
        places.append(free[key].pop(0) if key and free.get(key) else None)
    left = sorted(place for group in free.values() for place in group if others[place])
    pairs = []
    for number, key in enumerate(keys):
        if places[number] is not None or not key:
            continue
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(key)
        for place in left:
            matcher.set_seq1(others[place])
            if matcher.real_quick_ratio() >= THRESHOLD and matcher.quick_ratio() >= THRESHOLD:
                pairs.append((-matcher.ratio(), number, place))
    taken: set[int] = set()
    for ratio, number, place in sorted(pairs):
        if -ratio >= THRESHOLD and places[number] is None and place not in taken:
            places[number] = place
            taken.add(place)
    return places
