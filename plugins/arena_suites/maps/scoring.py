"""Scores of many mind-maps by all metrics, and of folders of files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from arena import metrics
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError
from arena.kit.terminal import progress
from arena.metrics import ENCODER, EXTRACTOR
from arena.mindmap import MindMap, floors
from arena.mindmap.extractors import EXTRACTORS, Extractor
from arena.mindmap.metrics import entities, headings, kept, unit_vectors
from arena.mindmap.scoring import as_read, context_of, metric_names
from arena_suites.maps.files import naming, read_mind_map_file

Pair = tuple[MindMap, MindMap]


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
            made.append((as_read(predicted), as_read(gold)))
    model, reader = _name("encoder", encoder), _name("extractor", extractor)
    scored, unscored = metric_names(extractor), dict.fromkeys(metric_names())
    context = context_of(encoder, extractor)
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
    values = {metric: [record[metric] for record in scores] for metric in metric_names()}
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
