"""Scores of mind-maps by chosen metrics, and floors of these."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from arena import metrics
from arena.encoders import Encoder
from arena.errors import DataError
from arena.metrics import ENCODER, EXTRACTOR, METRICS, ScoreContext
from arena.mindmap.extractors import Extractor
from arena.mindmap.metrics import headings, kept
from arena.mindmap.reading import read_mind_map
from arena.mindmap.tree import MAX_DEPTH, MindMap, cut

Pair = tuple[MindMap, MindMap]


def evaluate(
    predicted: MindMap,
    gold: MindMap,
    names: Iterable[str],
    encoder: str | Encoder = ENCODER,
    extractor: str | Extractor | None = EXTRACTOR,
) -> dict[str, float | None]:
    """Score one mind-map against the survey's own.

    The same maps give the same bits, whatever was scored before. Maps are scored as `read_mind_map`
    would read them: siblings with one label count as one heading, and blank headings do not count.
    What none of the metrics needs is not loaded.

    Args:
        predicted: The map that was made. One without labels is the worst there is.
        gold: The survey's own; has a label below its root.
        names: Names of metrics.
        encoder: The name of a registered encoder (its vectors are kept), or an encoder.
        extractor: The name of a registered extractor (its entities are kept), or an extractor.

    Returns:
        Score by name, in the order of `names`; None where the gold map has nothing that a metric
        counts.
    """
    gold = as_read(gold)
    if not headings(gold):
        raise DataError("the gold map has no label below its root: leave this topic out.")
    return metrics.evaluate(as_read(predicted), gold, names, context_of(encoder, extractor))


def as_read(tree: MindMap) -> MindMap:
    """Return a map made in Python as `read_mind_map` would have made it from its JSON."""
    if not tree.label.strip() and not headings(tree):
        return MindMap("")
    read, _ = read_mind_map(cut(tree, MAX_DEPTH + 1).to_json())  # which refuses one too deep
    return tree if read == tree else read


def context_of(encoder: Any, extractor: Any) -> ScoreContext:
    """Return the context in which an object, too, keeps what it makes."""
    if not isinstance(encoder, str):
        encoder = kept("encoder", encoder)
    if not isinstance(extractor, str | None):
        extractor = kept("extractor", extractor)
    return ScoreContext(encoder, extractor)


def metric_names(extractor: object = EXTRACTOR) -> list[str]:
    """Return the names of all metrics of maps; without an extractor, of those that need none."""
    return [
        each.name
        for each in METRICS.scoring("map")
        if extractor is not None or "extractor" not in each.needs
    ]


def identity(
    encoder: str = "static", extractor: str | None = None, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a record of scores must name besides the metrics: what compared the labels.

    Returns:
        ``encoder``, its name, and ``config``, all that shapes its vectors: the model, hashes of
        its files and, under ``runtime``, versions. With an extractor also ``extractor`` and
        ``extractor_config``, which its `options` shape.
    """
    names = {"encoder": encoder, "config": dict(kept("encoder", encoder).config)}
    if extractor is None:
        return names
    config = dict(kept("extractor", extractor, options).config)
    return names | {"extractor": extractor, "extractor_config": config}


# Floors: what the metrics give for maps that have nothing to do with the topic

FLOORS_NOTE = (
    "other topics: the same maps scored against the maps of other topics. random map: words "
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
    their number above, at most 552; each paper is under a random heading.

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
    encoder: str | Encoder = ENCODER,
    extractor: str | Extractor | None = EXTRACTOR,
    *,
    others: Sequence[MindMap] = (),
    seed: int = 0,
) -> dict[str, dict[str, float | None]]:
    """Return what the metrics give for maps that are not of the topic, to read scores by.

    A score that does not stand out from these says little about a map, however high it is. The
    pairs (predicted, gold) are of different topics, and so are the gold maps `others`.

    Returns:
        ``predicted``, ``other_topics`` and ``random``: metric -> mean over all pairs, None where it
        scored none. Of other topics are the predicted maps against the gold maps of the next three
        other pairs, or of `others`. Random are three `random_map` of as many headings as the
        predicted map for each pair, with the gold map's papers. ``merged``: how many of the
        ``predicted`` and ``gold`` maps have headings that are merged with a sibling of the same
        label or left out as blank.
    """
    names = metric_names(extractor) if names is None else names
    context = context_of(encoder, extractor)
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
    for kind, chosen in found.items():
        scores = []
        for made, tree in chosen:
            with suppress(DataError):  # maps that are too large for an edit distance
                scores.append(metrics.evaluate(made, tree, names, context))
        means[kind] = {name: metrics.mean(score[name] for score in scores) for name in names}
    merged: dict[str, float | None] = {
        side: sum(pair[n].merged > 0 for pair in pairs)
        for n, side in enumerate(("predicted", "gold"))
    }
    return means | {"merged": merged}
