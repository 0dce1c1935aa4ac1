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
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.cli.app import Parser, print_table, run_command
from arena.errors import DataError
from arena.metrics import METRICS
from arena.mindmap import MindMap, read_mind_map
from arena.text.display import count
from arena_suites.maps.scoring import score_pairs

_KEYS = ("tree", "mind_map", "typology", "gt")


def read(path: Path) -> list[MindMap]:
    """Return the maps of all records, in order."""
    maps = []
    # Not splitlines(): a text in JSON may contain U+2028.
    for number, line in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise DataError(f"line {number} of {path.name!r} is not a JSON object.")
        found = next((record[key] for key in _KEYS if record.get(key)), None)
        if found is None:
            raise DataError(f"line {number} of {path.name!r} has none of {', '.join(_KEYS)}.")
        maps.append(read_mind_map(found)[0])
    return maps


def execute(arguments: argparse.Namespace) -> None:
    """Print both tables."""
    extractor = None if arguments.extractor == "none" else arguments.extractor
    maps = read(arguments.file)
    score_pairs([(maps[0], maps[0])], arguments.model, extractor)  # models are loaded
    began = time.perf_counter()
    circle = maps.copy()
    random.Random(arguments.seed).shuffle(circle)
    for title, others in (("itself", circle), ("a stranger", circle[1:] + circle[:1])):
        pairs = list(zip(circle, others, strict=True))
        scores = score_pairs(pairs, arguments.model, extractor)
        print(f"against {title}, {arguments.model}, {extractor or 'no extractor'}")
        rows = []
        for name in filter(METRICS.names().__contains__, scores[0]):
            values = [float(found[name]) for found in scores if found[name] is not None]
            spread = (
                np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(values) > 1 else []
            )
            rows.append((name, *(spread or [None] * 5), len(values)))
        headers = (count(len(maps), "map"), "least", "25 %", "median", "75 %", "greatest", "scored")
        print_table(rows, headers)
        print()
    took = time.perf_counter() - began
    print(f"{2 * len(maps)} pairs in {took:.1f} s once the models were loaded", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = Parser("mind_map_scores.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="records with mind-maps, one a line")
    parser.add_argument("--model", default="static", help="encoder (default: static)")
    parser.add_argument("--extractor", default="spacy", help="extractor, or none (default: spacy)")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffle (default: 0)")
    parser.set_defaults(execute=execute)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
