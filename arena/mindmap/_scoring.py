"""Scores of mind-maps: of one map by chosen metrics, of many by all, of folders, and floors."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from arena import metrics
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError
from arena.kit.terminal import progress
from arena.metrics import ENCODER, EXTRACTOR, METRICS, ScoreContext
from arena.mindmap._files import naming, read_mind_map_file
from arena.mindmap.extractors import EXTRACTORS, Extractor
from arena.mindmap.metrics import entities, headings, kept, unit_vectors
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
    gold = _as_read(gold)
    if not headings(gold):
        raise DataError("the gold map has no label below its root: leave this survey out.")
    return metrics.evaluate(_as_read(predicted), gold, names, _context(encoder, extractor))


def _as_read(tree: MindMap) -> MindMap:
    """Return a map made in Python as `read_mind_map` would have made it from its JSON."""
    if not tree.label.strip() and not headings(tree):
        return MindMap("")
    read, _ = read_mind_map(cut(tree, MAX_DEPTH + 1).to_json())  # which refuses one too deep
    return tree if read == tree else read


def _context(encoder: Any, extractor: Any) -> ScoreContext:
    """Return the context in which an object, too, keeps what it makes."""
    if not isinstance(encoder, str):
        encoder = kept("encoder", encoder)
    if not isinstance(extractor, str | None):
        extractor = kept("extractor", extractor)
    return ScoreContext(encoder, extractor)


def _metric_names(extractor: object = EXTRACTOR) -> list[str]:
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


def score_pairs(
    pairs: Sequence[Pair],
    encoder: str | Encoder = ENCODER,
    extractor: str | Extractor | None = EXTRACTOR,
    *,
    names: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Score pairs of maps by all registered metrics, as `evaluate` scores one.

    Labels are encoded and read together, which changes no bit of a score. A progress bar appears
    on a terminal after two seconds. Where the gold map of a pair (predicted, gold) has no label
    below its root, all scores are None; without an extractor so are those that need one. Errors
    begin with the names of the pairs.

    Returns:
        A dictionary for each pair: the scores by name; ``nodes`` and ``merged`` (for ``gold`` and
        ``predicted`` the number of headings as they were scored, and of those merged with a sibling
        of the same label or left out as blank); ``model`` and ``extractor``, the names of the
        encoder and the extractor.
    """
    made = []
    for place, (predicted, gold) in enumerate(pairs):
        with naming(names[place]) if names else nullcontext():
            made.append((_as_read(predicted), _as_read(gold)))
    model, reader = _name("encoder", encoder), _name("extractor", extractor)
    scored, unscored = _metric_names(extractor), dict.fromkeys(_metric_names())
    context = _context(encoder, extractor)
    # All labels at once, for encoders that take many together; what they make is kept.
    if labels := list(dict.fromkeys(x for pair in made for tree in pair for x in headings(tree))):
        unit_vectors(labels, context.encoder)
        if extractor is not None:
            entities(labels, context.extractor)
    records: list[dict[str, Any]] = []
    for place, (predicted, gold) in enumerate(progress(made, desc="score", unit="map")):
        scores: dict[str, float | None] = dict(unscored)
        with naming(names[place]) if names else nullcontext():
            if headings(gold):
                scores |= metrics.evaluate(predicted, gold, scored, context)
        records.append(
            {
                **scores,
                "nodes": {"gold": gold.size, "predicted": predicted.size},
                "merged": {"gold": gold.merged, "predicted": predicted.merged},
                "model": model,
                "extractor": reader,
            }
        )
    return records


def _name(kind: str, plugin: str | Encoder | Extractor | None) -> str | None:
    """Return the name of a plug-in, or of its class if that is not registered."""
    if plugin is None:
        return None
    kept(kind, plugin)  # refuses an unknown name
    if isinstance(plugin, str):
        return plugin
    known: Any = ENCODERS if kind == "encoder" else EXTRACTORS
    registered = (name for name in known.names() if known.get(name) is type(plugin))
    return next(registered, type(plugin).__name__)


def score_directories(
    predicted: str | Path,
    gold: str | Path,
    encoder: str | Encoder = ENCODER,
    extractor: str | Extractor | None = EXTRACTOR,
) -> dict[str, Any]:
    """Score each map of a folder against the one of the same name in another.

    ``a.json`` and ``a.md`` have the same name: suffixes may differ. Hidden files and folders
    inside are passed over. A gold map for which none was made is scored against an empty one.

    Returns:
        ``maps``, in the order of their names: ``file``, the gold map's, what `score_pairs` returns,
        ``predicted_file`` (None where there is none) and ``repairs``, what the reader repaired in
        ``gold`` and ``predicted``; ``mean``: metric -> mean over the maps that it scored, None
        where it scored none; ``floors``, as `floors` returns them; ``counts``: ``maps``,
        ``predicted_missing``, ``scored`` (metric -> maps); ``without_gold``, the files in
        `predicted` that nothing was compared with.
    """
    wanted, made = _files(Path(gold)), _files(Path(predicted))
    if not wanted.keys() & made.keys():
        raise DataError(
            f"no file in {str(predicted)!r} has the name of one in {str(gold)!r}, such as "
            f"{next(iter(wanted))!r} with any suffix."
            if wanted
            else f"{str(gold)!r} has no file: name a folder of mind-maps."
        )
    pairs: list[Pair] = []
    entries: list[dict[str, Any]] = []
    for name, path in wanted.items():
        theirs, gold_repairs = read_mind_map_file(path)
        ours, our_repairs = read_mind_map_file(made[name]) if name in made else (MindMap(""), [])
        pairs.append((ours, theirs))
        our_repairs += filter(None, [ours.unfiled(theirs)])
        repairs = {"gold": gold_repairs, "predicted": our_repairs}
        file = made[name].name if name in made else None
        entries.append({"predicted_file": file, "repairs": repairs})
    files = [path.name for path in wanted.values()]
    scores = score_pairs(pairs, encoder, extractor, names=[repr(f) for f in files])
    values = {metric: [record[metric] for record in scores] for metric in _metric_names()}
    return {
        "maps": [
            {"file": file, **record, **entry}
            for file, record, entry in zip(files, scores, entries, strict=True)
        ],
        "mean": {metric: metrics.mean(some) for metric, some in values.items()},
        "floors": floors(pairs, encoder=encoder, extractor=extractor),
        "counts": {
            "maps": len(wanted),
            "predicted_missing": len(wanted.keys() - made.keys()),
            "scored": {m: sum(value is not None for value in some) for m, some in values.items()},
        },
        "without_gold": [path.name for name, path in made.items() if name not in wanted],
    }


def _files(folder: Path) -> dict[str, Path]:
    """Return name without suffix -> file, sorted."""
    if not folder.is_dir():
        raise DataError(f"{str(folder)!r} is not a folder: name one with mind-maps.")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.stem, path.suffix)):
        if path.is_file() and not path.name.startswith("."):
            if path.stem in files:
                raise DataError(
                    f"{str(folder)!r} has {files[path.stem].name!r} and {path.name!r}: files are "
                    "matched by their names without suffix, so leave one."
                )
            files[path.stem] = path
    return files


# Floors: what the metrics give for maps that have nothing to do with the topic

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
    names = _metric_names(extractor) if names is None else names
    context = _context(encoder, extractor)
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
