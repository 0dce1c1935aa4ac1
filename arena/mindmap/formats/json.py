"""JSON, with everything that a mind-map holds."""

from __future__ import annotations

import json as standard

from arena.errors import DataError
from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap


def json(tree: MindMap) -> str:
    """Nested objects with label, children and papers; nothing is lost."""
    try:
        return standard.dumps(tree.to_json(), indent=2) + "\n"
    except RecursionError:
        raise DataError(
            f"the mind-map is {tree.depth:,} levels deep, too many for JSON; cut it to 64."
        ) from None


FORMATS.register("json")(Format(json, (".json",)))
