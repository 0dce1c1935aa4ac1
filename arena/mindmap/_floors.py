"""Floors: what the metrics give for maps that have nothing to do with the topic."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from arena.encoders import Encoder
from arena.errors import DataError
from arena.mindmap._builder import as_read
from arena.mindmap._labels import headings, keeping
from arena.mindmap._scoring import Pair, evaluate, mean, metric_names
from arena.mindmap.extractors import Extractor
from arena.mindmap.tree import MindMap

F1_NOTE = (
    "heading_soft_f1 has a precision of its own, which near-copies do not raise: it is not the "
    "harmonic mean of heading_soft_recall and heading_soft_precision."
)
FLOORS_NOTE = (
    "other topics: the same maps scored against the maps of other surveys. random map: words "
    "that any survey uses, papers filed at random. A score near these says little."
)
_DRAWS = 3  # maps of other topics, and random ones, for each pair
_WORDS = (
    "Algorithms", "Analysis", "Applications", "Approaches", "Architectures", "Benchmarks",
    "Challenges", "Data", "Design", "Evaluation", "Foundations", "Learning", "Methods", "Models",
    "Networks", "Optimization", "Perspectives", "Problems", "Resources", "Structures", "Systems",
    "Tasks", "Techniques", "Theory",
)  # fmt: skip


def random_map(size: int, papers: Sequence[str], seed: int | str = 0) -> MindMap:
    """Return a map that is made without reading: the same one for the same arguments.

    Its headings are pairs of 24 words that any survey uses, in two levels, about the square root of
    their number above; each paper is under a random heading.

    Args:
        size: Number of headings; at most 552 are made.
        papers: Ids of the papers to file.
        seed: Seed of the choice.

    Example:
        >>> tree = random_map(4, ["a", "b"], seed=1)
        >>> tree.size, tree.depth, sorted(tree.all_papers())
        (4, 2, ['a', 'b'])
    """
    generator = random.Random(f"{seed}")
    pairs = list(itertools.permutations(_WORDS, 2))
    labels = [" ".join(pair) for pair in generator.sample(pairs, min(size, len(pairs)))]
    filed: list[list[str]] = [[] for _ in labels]
    for paper in papers if labels else ():
        generator.choice(filed).append(paper)
    leaves = [MindMap(label, (), tuple(here)) for label, here in zip(labels, filed, strict=True)]
    top = math.isqrt(len(leaves))
    below: list[list[MindMap]] = [[] for _ in range(top)]
    for leaf in leaves[top:]:
        generator.choice(below).append(leaf)
    return MindMap(
        "",
        tuple(
            MindMap(leaf.label, tuple(under), leaf.papers)
            for leaf, under in zip(leaves[:top], below, strict=True)
        ),
    )


def floors(
    pairs: Sequence[Pair],
    names: Sequence[str] | None = None,
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    others: Sequence[MindMap] = (),
    seed: int = 0,
    **options: Any,
) -> dict[str, dict[str, float | None]]:
    """Return what the metrics give for maps that are not of the topic, to read scores by.

    A score that does not stand out from these says little about a map, however high it is.

    Args:
        pairs: Pairs (predicted, gold), each of another topic.
        names: Names of metrics; by default all, those of `SCORES` first.
        encoder: As for `evaluate`.
        extractor: As for `score_pairs`.
        others: Gold maps of further topics.
        seed: Seed of the random maps.
        options: Options of `evaluate`, such as ``clip``.

    Returns:
        ``predicted``, ``other_topics`` and ``random``: metric -> mean over all pairs, None where it
        scored none. Of other topics are the predicted maps against the gold maps of the next three
        other pairs, or of `others`. Random are three `random_map` of as many headings as the
        predicted map for each pair, with the gold map's papers. ``merged``: how many of the
        ``predicted`` and ``gold`` maps have headings that are merged with a sibling of the same
        label or left out as blank.
    """
    names = metric_names(extractor) if names is None else names
    parts = keeping("encoder", encoder), keeping("extractor", extractor)
    found: dict[str, list[Pair]] = {"predicted": [], "other_topics": [], "random": []}
    for place, (predicted, gold) in enumerate(pairs):
        if not headings(gold):
            continue
        found["predicted"].append((predicted, gold))
        golds = (tree for _, tree in itertools.chain(pairs[place + 1 :], pairs[:place]))
        strangers = (
            tree for tree in itertools.chain(golds, others) if headings(tree) and tree != gold
        )
        found["other_topics"] += [(predicted, tree) for tree in itertools.islice(strangers, _DRAWS)]
        for draw in range(_DRAWS):
            size = predicted.size or gold.size
            made = random_map(size, gold.all_papers(), f"{seed}/{place}/{draw}")
            found["random"].append((made, gold))
    means: dict[str, dict[str, float | None]] = {}
    for kind, compared in found.items():
        scores = []
        for made, tree in compared:
            with suppress(DataError):  # maps that are too large for an edit distance
                scores.append(evaluate(made, tree, names, *parts, **options))
        means[kind] = {name: mean(score[name] for score in scores) for name in names}
    merged: dict[str, float | None] = {
        side: sum(as_read(pair[n]).merged > 0 for pair in pairs)
        for n, side in enumerate(("predicted", "gold"))
    }
    return means | {"merged": merged}
