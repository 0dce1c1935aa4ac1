"""The tool ``finish``."""

from __future__ import annotations

from typing import Any

from arena.tools.base import TOOLS, Tool
from arena.tools.episode import Episode


def finish(episode: Episode) -> dict[str, Any]:
    """End the episode. Where a ranking is due, the selected papers are submitted in their order."""
    return {"submitted": episode.finish()}


TOOLS.register("finish")(Tool.of(finish))
