"""Figures that papers print, in files ``published.yaml`` of the folders of their benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

COMPARABLE = ("same corpus", "other corpus", "undated")
"""How published figures compare with those of here: of the same corpus, another, or undated."""


def published(name: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the published figures of a benchmark, or of all, in files ``*/published.yaml``.

    Each has ``benchmark``, ``source``, ``comparability`` (see `COMPARABLE`), ``columns`` and
    ``rows``: system -> figures; a second table under ``retrieval`` has the last three of its own.
    """
    for path in sorted(Path(__file__).parent.glob("*/published.yaml")):
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        for figure in found if isinstance(found, list) else [found]:
            if name is None or name.lower() == figure["benchmark"].lower():
                yield figure
                if more := figure.get("retrieval"):
                    yield figure | more
