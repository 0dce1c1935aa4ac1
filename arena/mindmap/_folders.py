"""A folder of maps against a folder of the surveys' own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from arena.encoders import Encoder
from arena.errors import DataError
from arena.extractors import Extractor
from arena.mindmap._comparison import SCORES, score_pairs
from arena.mindmap._files import read_mind_map_file
from arena.mindmap.tree import MindMap


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
        encoder: As for `score_maps`.
        extractor: As for `score_maps`.
        denominator: As for `score_maps`.
        clip: As for `score_maps`.

    Returns:
        ``maps``, in the order of their names: ``file``, the gold map's, what `score_maps` returns,
        ``predicted_file`` (None where there is none) and ``repairs``, what the reader repaired in
        ``gold`` and ``predicted``; ``mean``: metric -> mean over the maps that it scored, None
        where it scored none; ``counts``: ``maps``, ``predicted_missing``, ``scored`` (metric ->
        maps); ``without_gold``, the files in `predicted` that nothing was compared with.

    Raises:
        DataError: There is no such folder; two files of one have the same name; none of one has a
            name of the other; a file is no mind-map; or as `score_maps`.
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
        theirs, told = read_mind_map_file(path)
        ours, also = read_mind_map_file(made[name]) if name in made else (MindMap(""), [])
        maps.append((ours, theirs))
        entries.append(
            {
                "predicted_file": made[name].name if name in made else None,
                "repairs": {"gold": told, "predicted": also},
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
        metric: [found[metric] for found in scores if found[metric] is not None]
        for metric in SCORES
    }
    return {
        "maps": [
            {"file": path.name, **found, **entry}
            for path, found, entry in zip(wanted.values(), scores, entries, strict=True)
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
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.stem, path.suffix)):
        if path.is_file() and not path.name.startswith("."):
            if path.stem in found:
                raise DataError(
                    f"{str(folder)!r} has {found[path.stem].name!r} and {path.name!r}: files are "
                    "matched by their names without suffix, so leave one."
                )
            found[path.stem] = path
    return found
