"""Scores of real mind-maps against themselves and against strangers.

    python examples/mind_map_scores.py taxonomies.jsonl --model static

The file has records with a mind-map, one a line: under ``tree``, ``mind_map``, ``typology`` or
``gt``. Every map is scored against itself, which must give 1 and 0, and then as a prediction for
another survey: the maps are shuffled, and each is scored against the next one. So the second table
shows what a metric gives for a map of another topic.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.cli.app import print_table
from arena.errors import ArenaError, DataError
from arena.mindmap import SCORES, MindMap, read_mind_map, score_pairs

_KEYS = ("tree", "mind_map", "typology", "gt")


def read(path: Path) -> list[MindMap]:
    """Return the maps of all records, in order."""
    maps = []
    # Not splitlines(): a text in JSON may hold U+2028.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise DataError(f"line {number} of {path.name!r} is no JSON object.")
        found = [record[key] for key in _KEYS if record.get(key)]
        if not found:
            raise DataError(f"line {number} of {path.name!r} has none of {', '.join(_KEYS)}.")
        maps.append(read_mind_map(found[0])[0])
    return maps


def strangers(maps: Sequence[MindMap], seed: int) -> list[tuple[MindMap, MindMap]]:
    """Return each map as a prediction for another one: its neighbour in a shuffled circle."""
    circle = list(maps)
    random.Random(seed).shuffle(circle)
    return list(zip(circle, circle[1:] + circle[:1], strict=True))


def rows(scores: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return name, least, quartiles, greatest and number of values of each metric."""
    made: list[tuple[Any, ...]] = []
    for name in SCORES:
        values = sorted(float(found[name]) for found in scores if found[name] is not None)
        if len(values) < 2:
            made.append((name, *[None] * 5, len(values)))
            continue
        quartiles = statistics.quantiles(values, n=4, method="inclusive")
        made.append((name, values[0], *quartiles, values[-1], len(values)))
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="records with mind-maps, one a line")
    parser.add_argument("--model", default="static", help="encoder (default: static)")
    parser.add_argument("--extractor", default="spacy", help="extractor, or none (default: spacy)")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffle (default: 0)")
    arguments = parser.parse_args(argv)
    extractor = None if arguments.extractor == "none" else arguments.extractor
    try:
        maps = read(arguments.file)
        warm = [(maps[0], maps[0])]
        score_pairs(warm, arguments.model, extractor)  # models are loaded
        began = time.perf_counter()
        for title, pairs in (
            ("against itself", [(tree, tree) for tree in maps]),
            ("against a stranger", strangers(maps, arguments.seed)),
        ):
            scores = score_pairs(pairs, arguments.model, extractor)
            print(f"{title}, {arguments.model}, {extractor or 'no extractor'}")
            headers = (f"{len(maps)} maps", "least", "25 %", "median", "75 %", "greatest", "scored")
            print_table(rows(scores), headers)
            print()
    except (ArenaError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    took = time.perf_counter() - began
    print(f"{2 * len(maps)} pairs in {took:.1f} s once the models were loaded", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
