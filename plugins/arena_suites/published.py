"""Figures that papers print, in files ``published.yaml`` of the folders of their benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def published(name: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the published figures of a benchmark, or of all, in files ``*/published.yaml``.

    Each has ``benchmark``, ``source``, ``comparability`` (with those of here: ``same corpus``,
    ``other corpus`` or ``undated``), ``columns`` and ``rows``: system -> figures.
    """
    for path in sorted(Path(__file__).parent.glob("*/published.yaml")):
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        for figure in found if isinstance(found, list) else [found]:
            if name is None or name.lower() == figure["benchmark"].lower():
                yield figure
