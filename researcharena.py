"""The commands ``arena`` and ``arena-corpus``: Ctrl-C is one line while they are imported, too."""

from __future__ import annotations

import importlib
import sys


def arena() -> int:
    """Run the command ``arena``; return the exit status."""
    return _run("arena", "arena.cli")


def arena_corpus() -> int:
    """Run the command ``arena-corpus``; return the exit status."""
    return _run("arena-corpus", "corpus_builder.cli")


def _run(command: str, module: str) -> int:
    try:
        return int(importlib.import_module(module).main())
    except KeyboardInterrupt:
        print(f"{command}: interrupted.", file=sys.stderr)
        return 130
