"""Scores of mind-maps: of one map by chosen metrics, of many by all, of folders, and floors."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from arena._internal.options import choice
from arena._internal.terminal import progress
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError
from arena.errors import clip as quoted
from arena.mindmap._builder import as_read
from arena.mindmap._files import naming, read_mind_map_file
from arena.mindmap.extractors import EXTRACTORS, Extractor
from arena.mindmap.metrics import (
    MIND_MAP_METRICS,
    check_maps,
    compared,
    entities,
    headings,
    kept,
    needs,
    takes,
    unit_vectors,
)
from arena.mindmap.metrics.heading_overlap import DENOMINATORS
from arena.mindmap.tree import MindMap

SCORES = (
    "paper_filing_agreement", "ari", "v_measure", "homogeneity", "completeness",
    "leaf_recall", "leaf_precision", "sem_path",
    "heading_soft_f1", "heading_soft_recall", "heading_soft_precision", "heading_entity_recall",
    "node_soft_f1", "node_soft_recall", "node_soft_precision",
    "tree_edit_distance", "tree_semantic_distance", "normalised_tree_semantic_distance",
    "normalised_tree_edit_distance", "normalised_ted",
)  # fmt: skip
"""The metrics of this package; first those that tell right from wrong most clearly."""

Pair = tuple[MindMap, MindMap]


def evaluate(
    predicted: MindMap,
    gold: MindMap,
    names: Iterable[str],
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    denominator: str = "gold",
    clip: bool = True,
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
        denominator: Denominator of heading soft recall: ``"gold"`` or ``"paper"``.
        clip: Whether negative cosines count as 0 in the soft metrics.

    Returns:
        Score by name, in the order of `names`; None where the gold map has nothing that a metric
        counts.

    Raises:
        UnknownNameError: There is no such metric, or no encoder or extractor that one needs; the
            message suggests the nearest.
        DataError: The gold map has no label, or the packages of the encoder or the extractor
            are absent.
    """
    if isinstance(names, str):
        raise DataError(f"metric names {quoted(names)}: expected a list of names, not one string.")
    check_maps(predicted, gold)
    predicted, gold = as_read(predicted), as_read(gold)
    names = list(names)
    parts = {"denominator": denominator, "clip": clip, **_needed(names, encoder, extractor)}
    compared(predicted, gold)
    return {
        name: MIND_MAP_METRICS.get(name)(
            predicted, gold, **{part: parts[part] for part in parts.keys() & takes(name)}
        )
        for name in names
    }


def _needed(names: Sequence[str], encoder: object, extractor: object) -> dict[str, Any]:
    """Return those that a metric needs: a name as it is, an object with what it will make."""
    needed = frozenset().union(*map(needs, names))
    parts = {}
    for kind, plugin in (("encoder", encoder), ("extractor", extractor)):
        if kind in needed:
            made = kept(kind, plugin)
            parts[kind] = plugin if isinstance(plugin, str) else made
    return parts


def _metric_names(with_extractor: bool = True) -> list[str]:
    """Return the names of all metrics, or of those without an extractor; `SCORES` come first."""
    names = dict.fromkeys([*SCORES, *MIND_MAP_METRICS.names()])
    return [name for name in names if with_extractor or "extractor" not in needs(name)]


def identity(encoder: str = "static", extractor: str | None = None) -> dict[str, Any]:
    """Return what a record of scores must name besides the metrics: what compared the labels.

    Returns:
        ``encoder``, its name, and ``config``, all that shapes its vectors: the model, hashes of
        its files and, under ``runtime``, versions. With an extractor also ``extractor`` and
        ``extractor_config``.

    Raises:
        UnknownNameError: There is no such encoder or extractor.
        DataError: Its packages are absent.
    """
    names = {"encoder": encoder, "config": dict(kept("encoder", encoder).config)}
    if extractor is None:
        return names
    config = dict(kept("extractor", extractor).config)
    return names | {"extractor": extractor, "extractor_config": config}


def score_pairs(
    pairs: Sequence[Pair],
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    denominator: str = "gold",
    clip: bool = True,
    names: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Score pairs of maps by all registered metrics, as `evaluate` scores one.

    Labels are encoded and read together, which changes no bit of a score. A progress bar appears
    on a terminal after two seconds. Options and errors are those of `evaluate`.

    Args:
        pairs: Pairs (predicted, gold). A gold map without a label below its root has no scores:
            all are None.
        encoder: As for `evaluate`.
        extractor: As for `evaluate`. None leaves out the metrics that need one: their scores are
            None.
        denominator: As for `evaluate`.
        clip: As for `evaluate`.
        names: Names of the pairs, with which error messages begin.

    Returns:
        A dictionary for each pair: the scores, those of `SCORES` first; ``nodes`` and ``merged``
        (for ``gold`` and ``predicted`` the number of headings as they were scored, and of those
        merged with a sibling of the same label or left out as blank); ``model`` and
        ``extractor``, the names of the encoder and the extractor; ``options``; and ``sha256``
        (hashes of the two maps and of the configurations of encoder and extractor).
    """
    choice("denominator", denominator, DENOMINATORS)
    made = []
    for place, pair in enumerate(pairs):
        where = names[place] if names is not None else f"pair {place + 1}"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataError(f"{where}: {quoted(pair)} is no pair of maps, (predicted, gold).")
        with naming(where):
            check_maps(*pair)
            made.append((as_read(pair[0]), as_read(pair[1])))
    model, model_sha256 = _described("encoder", encoder)
    reader, reader_sha256 = _described("extractor", extractor)
    scored, unscored = _metric_names(extractor is not None), dict.fromkeys(_metric_names())
    parts = _needed(scored, encoder, extractor)
    # All labels at once, for encoders that take many together; what they make is kept.
    if labels := list(dict.fromkeys(x for pair in made for tree in pair for x in headings(tree))):
        unit_vectors(labels, parts["encoder"])
        if extractor is not None:
            entities(labels, parts["extractor"])
    options: dict[str, Any] = {"denominator": denominator, "clip": clip}
    records: list[dict[str, Any]] = []
    for place, (predicted, gold) in enumerate(progress(made, desc="score", unit="map")):
        scores = unscored
        with naming(names[place]) if names else nullcontext():
            if headings(gold):
                scores = unscored | evaluate(predicted, gold, scored, **parts, **options)
        records.append({
            **scores,
            "nodes": {"gold": gold.size, "predicted": predicted.size},
            "merged": {"gold": gold.merged, "predicted": predicted.merged},
            "model": model,
            "extractor": reader,
            "options": options,
            "sha256": {
                "gold": _sha256(gold), "predicted": _sha256(predicted),
                "model": model_sha256, "extractor": reader_sha256,
            },
        })  # fmt: skip
    return records


def _described(
    kind: str, plugin: str | Encoder | Extractor | None
) -> tuple[str | None, str | None]:
    """Return the name of a plug-in, and a hash of what shapes its results, without versions."""
    if plugin is None:
        return None, None
    name, config = plugin, getattr(kept(kind, plugin), "config", None)
    if not isinstance(name, str):
        known: Any = ENCODERS if kind == "encoder" else EXTRACTORS
        registered = (name for name in known.names() if known.get(name) is type(plugin))
        name = next(registered, type(plugin).__name__)
    if config is None:
        return name, None
    shaping = {key: value for key, value in config.items() if key != "runtime"}
    return name, hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()


def _sha256(tree: MindMap) -> str:
    rows = [[node.label, len(node.children), node.papers] for node in tree.nodes()]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there is none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def score_directories(
    predicted: str | Path,
    gold: str | Path,
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    **options: Any,
) -> dict[str, Any]:
    """Score each map of a folder against the one of the same name in another.

    The same name have ``a.json`` and ``a.md``: suffixes may differ. Hidden files and folders
    inside are passed over.

    Args:
        predicted: Folder with the maps that were made.
        gold: Folder with the surveys' own. A map for which none was made is scored against an
            empty one.
        encoder: As for `evaluate`.
        extractor: As for `score_pairs`.
        options: ``denominator`` and ``clip``, as for `evaluate`.

    Returns:
        ``maps``, in the order of their names: ``file``, the gold map's, what `score_pairs` returns,
        ``predicted_file`` (None where there is none) and ``repairs``, what the reader repaired in
        ``gold`` and ``predicted``; ``mean``: metric -> mean over the maps that it scored, None
        where it scored none; ``floors``, as `floors` returns them; ``counts``: ``maps``,
        ``predicted_missing``, ``scored`` (metric -> maps); ``without_gold``, the files in
        `predicted` that nothing was compared with.

    Raises:
        DataError: There is no such folder; two files of one have the same name; none of one has a
            name of the other; a file is no mind-map; or as `score_pairs`.
        UnknownNameError: There is no such encoder or extractor.
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
        repairs = {"gold": gold_repairs, "predicted": our_repairs}
        file = made[name].name if name in made else None
        entries.append({"predicted_file": file, "repairs": repairs})
    files = [path.name for path in wanted.values()]
    scores = score_pairs(pairs, encoder, extractor, **options, names=[repr(f) for f in files])
    values = {m: [r[m] for r in scores] for m in scores[0] if m in MIND_MAP_METRICS.names()}
    return {
        "maps": [
            {"file": file, **record, **entry}
            for file, record, entry in zip(files, scores, entries, strict=True)
        ],
        "mean": {metric: _mean(some) for metric, some in values.items()},
        "floors": floors(pairs, encoder=encoder, extractor=extractor, **options),
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
        raise DataError(f"{str(folder)!r} is no folder: name one that holds mind-maps.")
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
    names = _metric_names(extractor is not None) if names is None else names
    options |= _needed(names, encoder, extractor)
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
                scores.append(evaluate(made, tree, names, **options))
        means[kind] = {name: _mean(score[name] for score in scores) for name in names}
    merged: dict[str, float | None] = {
        side: sum(as_read(pair[n]).merged > 0 for pair in pairs)
        for n, side in enumerate(("predicted", "gold"))
    }
    return means | {"merged": merged}
