"""Mind-maps as models and other systems write them: Markdown, Mermaid, JSON of other shapes."""

from __future__ import annotations

from typing import Any

from arena.mindmap.builder import Builder
from arena.mindmap.readers import MindMapReader, mind_map_reader
from arena.mindmap.tree import MindMap
from arena_suites.maps._markdown import read_markdown
from arena_suites.maps._shapes import reshaped
from arena_suites.maps._texts import read_text
from arena_suites.maps.outlines import is_pair, read_outline, read_pairs

__all__ = ["read_markdown", "read_outline"]


@mind_map_reader("markdown")
class WrittenMaps(MindMapReader):
    """Markdown, Mermaid, typologies in tags, and JSON with other names of keys."""

    read_text = staticmethod(read_text)
    reshaped = staticmethod(reshaped)

    def read_list(self, value: Any, tree: Builder) -> tuple[MindMap, list[str]] | None:
        """Return the map in a list of [level, heading] pairs, and notes."""
        return read_pairs(value, tree) if value and is_pair(value[0]) else None
