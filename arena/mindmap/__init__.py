"""Mind-maps: the tree, readers of many forms, metrics that compare two maps, and pictures.

Example:
    >>> from arena.mindmap import evaluate, read_mind_map
    >>> gold, _ = read_mind_map({"Graphs": ["Shortest paths", "Colouring"]})
    >>> evaluate(gold, gold, ["heading_soft_recall"])
    {'heading_soft_recall': 1.0}
"""

from arena.mindmap.builder import read_outline
from arena.mindmap.formats import FORMATS, Format, beside, format_of, matches, render
from arena.mindmap.metrics import cosines, forget_labels, unit_vectors
from arena.mindmap.metrics.heading_overlap import cardinality
from arena.mindmap.readers import MindMapReader, mind_map_reader
from arena.mindmap.reading import read_mind_map
from arena.mindmap.scoring import (
    FLOORS_NOTE,
    evaluate,
    floors,
    identity,
    random_map,
)
from arena.mindmap.tree import MindMap, cut

__all__ = [
    "FLOORS_NOTE",
    "FORMATS",
    "Format",
    "MindMap",
    "MindMapReader",
    "beside",
    "cardinality",
    "cosines",
    "cut",
    "evaluate",
    "floors",
    "forget_labels",
    "format_of",
    "identity",
    "matches",
    "mind_map_reader",
    "random_map",
    "read_mind_map",
    "read_outline",
    "render",
    "unit_vectors",
]
