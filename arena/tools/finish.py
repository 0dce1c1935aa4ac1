"""The tool ``finish``."""

from __future__ import annotations

from typing import Any

from arena.tools.base import tool
from arena.tools.episode import Episode


@tool("finish")
def finish(episode: Episode) -> dict[str, Any]:
    """End the episode. Where a ranking is due, the selected papers are submitted in their order."""
    return {"submitted": episode.finish()}
