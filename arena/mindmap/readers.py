"""Readers of mind-maps in forms beside nested JSON objects."""

from __future__ import annotations

from typing import Any

from arena.mindmap.builder import Builder
from arena.mindmap.tree import MindMap
from arena.plugins import Registry


class MindMapReader:
    """Reads texts, or objects, in which other systems write mind-maps; it needs one method."""

    def read_text(self, text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
        """Return the map in a text that is not JSON, and notes; None if the form is another one.

        It grows the map in `tree`. A text that is of its form and cannot be read is a DataError.
        """
        return None

    def read_list(self, value: Any, tree: Builder) -> tuple[MindMap, list[str]] | None:
        """Return the map in a list of a form of its own, and notes; None for other lists."""
        return None

    def reshaped(self, value: Any) -> Any:
        """Return an object or list of another shape as one that `read_mind_map` reads."""
        return value


MIND_MAP_READERS: Registry[type[MindMapReader]] = Registry("mind-map reader", base=MindMapReader)
mind_map_reader = MIND_MAP_READERS.register
"""Decorator: ``@mind_map_reader("name")``."""


def mind_map_readers() -> list[MindMapReader]:
    """Return all readers, in the order of their names."""
    return [MIND_MAP_READERS.get(name)() for name in MIND_MAP_READERS.names()]
