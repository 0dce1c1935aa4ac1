"""What the metrics compare: the labels of two maps."""

from __future__ import annotations

from arena.errors import DataError, clip
from arena.mindmap.tree import MindMap


def compared(predicted: MindMap, gold: MindMap) -> tuple[list[str], list[str]]:
    """Return the distinct labels of both maps, without the roots' and without blank ones.

    Raises:
        DataError: One is no mind-map, or the gold map has no label.
    """
    for name, value in (("predicted", predicted), ("gold", gold)):
        if not isinstance(value, MindMap):
            raise DataError(f"{name} {clip(value)}: expected a MindMap, as read_mind_map gives it.")
    labels = [[label for label in tree.labels() if label.strip()] for tree in (predicted, gold)]
    if not labels[1]:
        raise DataError("the gold map has no label below its root: leave this survey out.")
    return labels[0], labels[1]
