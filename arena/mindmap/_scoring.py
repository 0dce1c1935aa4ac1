"""Scores of mind-maps: of one map by chosen metrics, of many by all, and of folders."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

from arena._internal.progress import progress
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError
from arena.errors import clip as quoted
from arena.mindmap._files import read_mind_map_file
from arena.mindmap._labels import (
    compared,
    entities,
    named_encoder,
    named_extractor,
    remembering,
    unit_vectors,
)
from arena.mindmap.extractors import EXTRACTORS, Extractor
from arena.mindmap.metrics import MIND_MAP_METRICS, takes
from arena.mindmap.tree import MindMap
from arena.registry import Registry

SCORES = (
    "heading_soft_recall",
    "heading_soft_precision",
    "heading_entity_recall",
    "tree_edit_distance",
    "tree_semantic_distance",
    "normalised_tree_semantic_distance",
    "heading_soft_f1",
    "normalised_tree_edit_distance",
)
"""The metrics of this package, in the order in which `score_pairs` returns them."""

_LABELS = 8_192  # of pairs that are prepared together: half of the vectors that are kept
_SLICE = 512  # labels between two steps of the progress bar

Pair = tuple[MindMap, MindMap]


def evaluate(
    predicted: MindMap,
    gold: MindMap,
    names: Iterable[str],
    encoder: str | Encoder = "static",
    extractor: str | Extractor = "spacy",
) -> dict[str, float | None]:
    """Score one mind-map against the survey's own.

    The same maps give the same bits, whatever was scored before. What none of the metrics needs
    is not loaded.

    Args:
        predicted: The map that was made. One without labels is the worst there is.
        gold: The survey's own; has a label below its root.
        names: Names of metrics.
        encoder: The name of a registered encoder (its vectors are kept), or an encoder.
        extractor: The name of a registered extractor (its entities are kept), or an extractor.

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
    parts = {"encoder": encoder, "extractor": extractor}
    return _evaluate(predicted, gold, list(names), parts)


def _evaluate(
    predicted: MindMap, gold: MindMap, names: Sequence[str], parts: Mapping[str, Any]
) -> dict[str, float | None]:
    """Return the scores of one pair; each metric gets the parts that it takes."""
    wanted = {name: takes(name) & parts.keys() for name in names}
    # An unknown name is an error also where there is nothing to encode.
    for part, make in (("encoder", named_encoder), ("extractor", named_extractor)):
        if isinstance(parts[part], str) and any(part in taken for taken in wanted.values()):
            make(parts[part])
    compared(predicted, gold)
    with remembering():
        return {
            name: MIND_MAP_METRICS.get(name)(
                predicted, gold, **{part: parts[part] for part in sorted(taken)}
            )
            for name, taken in wanted.items()
        }


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
    names: dict[str, Any] = {"encoder": encoder, "config": dict(named_encoder(encoder).config)}
    if extractor is not None:
        config = dict(named_extractor(extractor).config)
        names |= {"extractor": extractor, "extractor_config": config}
    return names


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
    on a terminal after two seconds.

    Args:
        pairs: Pairs (predicted, gold). A gold map without a label below its root has no scores:
            all are None.
        encoder: The name of a registered encoder, or an encoder.
        extractor: The name of a registered extractor, or an extractor. None leaves out the metrics
            that need one: their scores are None.
        denominator: Denominator of heading soft recall: ``"gold"`` or ``"paper"``.
        clip: Whether negative cosines count as 0 in the soft metrics.
        names: Names of the pairs, with which error messages begin.

    Returns:
        A dictionary for each pair: the scores (first ``heading_soft_recall``,
        ``heading_soft_precision``, ``heading_entity_recall``, ``tree_edit_distance``,
        ``tree_semantic_distance`` and ``normalised_tree_semantic_distance``); ``nodes`` (numbers of
        nodes of ``gold`` and ``predicted``); ``model`` and ``extractor``, the names of the encoder
        and the extractor; the other scores; ``options``; and ``sha256`` (hashes of the two maps and
        of the configurations of encoder and extractor).

    Raises:
        UnknownNameError: There is no such encoder or extractor.
        DataError: Packages are absent; an option is wrong; an element is no pair of mind-maps; maps
            are too large for an edit distance; without `clip`, a cardinality is infinite.
    """
    from arena.mindmap.metrics.heading_soft import check_denominator

    check_denominator(denominator)
    _check_pairs(pairs, names)
    called = {"model": _name(encoder, ENCODERS), "extractor": _name(extractor, EXTRACTORS)}
    hashes = {
        "model": _config_sha256(named_encoder(encoder) if isinstance(encoder, str) else encoder),
        "extractor": _config_sha256(
            named_extractor(extractor) if isinstance(extractor, str) else extractor
        ),
    }
    options = {"denominator": denominator, "clip": clip}
    parts = {"encoder": encoder, "extractor": extractor, **options}
    metrics = list(dict.fromkeys([*SCORES, *MIND_MAP_METRICS.names()]))
    scored = [name for name in metrics if extractor is not None or "extractor" not in takes(name)]
    records: list[dict[str, Any]] = []
    with remembering(), progress(total=len(pairs), desc="score", unit="map") as bar:
        for portion in _portions(pairs):
            _prepare(portion, encoder, extractor)
            for predicted, gold in portion:
                try:
                    scores = _evaluate(predicted, gold, scored, parts) if _labels(gold) else {}
                except DataError as error:
                    where = f"{names[len(records)]}: " if names is not None else ""
                    raise DataError(f"{where}{error}") from None
                maps = {"gold": _sha256(gold), "predicted": _sha256(predicted)}
                records.append({
                    **{name: scores.get(name) for name in metrics[:6]},
                    "nodes": {"gold": gold.size, "predicted": predicted.size},
                    **called,
                    **{name: scores.get(name) for name in metrics[6:]},
                    "options": options,
                    "sha256": maps | hashes,
                })  # fmt: skip
                bar.update()
    return records


def _check_pairs(pairs: Sequence[Pair], names: Sequence[str] | None) -> None:
    for place, pair in enumerate(pairs):
        where = names[place] if names is not None else f"pair {place + 1}"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataError(f"{where}: {quoted(pair)} is no pair of maps, (predicted, gold).")
        for side, tree in zip(("predicted", "gold"), pair, strict=True):
            if not isinstance(tree, MindMap):
                raise DataError(
                    f"{where}: {side} {quoted(tree)}: expected a MindMap, as read_mind_map "
                    "gives it."
                )


def _portions(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in portions whose labels are kept all at the same time."""
    some: list[Pair] = []
    labels: set[str] = set()
    for pair in pairs:
        more = labels.union(*map(_labels, pair))
        if some and len(more) > _LABELS:
            yield some
            some, more = [], set().union(*map(_labels, pair))
        some.append(pair)
        labels = more
    if some:
        yield some


def _prepare(
    pairs: Sequence[Pair], encoder: str | Encoder, extractor: str | Extractor | None
) -> None:
    """Encode the labels of all maps and find their entities at the same time, into the caches."""
    labels = list(
        dict.fromkeys(label for pair in pairs for tree in pair for label in _labels(tree))
    )
    if not labels:
        return
    unit_vectors(labels[:1], encoder)  # models load one after the other
    reading = None
    with ThreadPoolExecutor(1) as pool:
        if extractor is not None:
            entities(labels[:1], extractor)
            reading = pool.submit(copy_context().run, entities, labels, extractor)
        for low in progress(range(0, len(labels), _SLICE), desc="headings"):
            unit_vectors(labels[low : low + _SLICE], encoder)
        if reading is not None:
            reading.result()


def _labels(tree: MindMap) -> list[str]:
    return [label for label in tree.labels() if label.strip()]


def _name(plugin: str | Encoder | Extractor | None, known: Registry[Any]) -> str | None:
    if plugin is None or isinstance(plugin, str):
        return plugin
    registered = (name for name in known.names() if known.get(name) is type(plugin))
    return next(registered, type(plugin).__name__)


def _config_sha256(plugin: Encoder | Extractor | None) -> str | None:
    """Return a hash of what shapes the results of a plug-in, without versions of libraries."""
    config = getattr(plugin, "config", None)
    if config is None:
        return None
    shaping = {key: value for key, value in config.items() if key != "runtime"}
    return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()


def _sha256(tree: MindMap) -> str:
    rows = [[node.label, len(node.children), node.papers] for node in tree.nodes()]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


# Folders


def score_directories(
    predicted: str | Path,
    gold: str | Path,
    encoder: str | Encoder = "static",
    extractor: str | Extractor | None = "spacy",
    *,
    denominator: str = "gold",
    clip: bool = True,
) -> dict[str, Any]:
    """Score each map of a folder against the one of the same name in another.

    The same name have ``a.json`` and ``a.md``: suffixes may differ. Hidden files and folders
    inside are passed over.

    Args:
        predicted: Folder with the maps that were made.
        gold: Folder with the surveys' own. A map for which none was made is scored against an
            empty one.
        encoder: As for `score_pairs`.
        extractor: As for `score_pairs`.
        denominator: As for `score_pairs`.
        clip: As for `score_pairs`.

    Returns:
        ``maps``, in the order of their names: ``file``, the gold map's, what `score_pairs` returns,
        ``predicted_file`` (None where there is none) and ``repairs``, what the reader repaired in
        ``gold`` and ``predicted``; ``mean``: metric -> mean over the maps that it scored, None
        where it scored none; ``counts``: ``maps``, ``predicted_missing``, ``scored`` (metric ->
        maps); ``without_gold``, the files in `predicted` that nothing was compared with.

    Raises:
        DataError: There is no such folder; two files of one have the same name; none of one has a
            name of the other; a file is no mind-map; or as `score_pairs`.
        UnknownNameError: There is no such encoder or extractor.
    """
    wanted, made = _files(Path(gold)), _files(Path(predicted))
    if not wanted:
        raise DataError(f"{str(gold)!r} has no file: name a folder of mind-maps.")
    if not wanted.keys() & made.keys():
        raise DataError(
            f"no file in {str(predicted)!r} has the name of one in {str(gold)!r}, such as "
            f"{next(iter(wanted))!r} with any suffix."
        )
    maps, entries = [], []
    for name, path in wanted.items():
        theirs, gold_repairs = read_mind_map_file(path)
        ours, our_repairs = read_mind_map_file(made[name]) if name in made else (MindMap(""), [])
        maps.append((ours, theirs))
        entries.append(
            {
                "predicted_file": made[name].name if name in made else None,
                "repairs": {"gold": gold_repairs, "predicted": our_repairs},
            }
        )
    scores = score_pairs(
        maps,
        encoder,
        extractor,
        denominator=denominator,
        clip=clip,
        names=[repr(path.name) for path in wanted.values()],
    )
    values = {
        metric: [record[metric] for record in scores if record[metric] is not None]
        for metric in scores[0]
        if metric in MIND_MAP_METRICS.names()
    }
    return {
        "maps": [
            {"file": path.name, **record, **entry}
            for path, record, entry in zip(wanted.values(), scores, entries, strict=True)
        ],
        "mean": {m: math.fsum(some) / len(some) if some else None for m, some in values.items()},
        "counts": {
            "maps": len(wanted),
            "predicted_missing": len(wanted.keys() - made.keys()),
            "scored": {metric: len(some) for metric, some in values.items()},
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
