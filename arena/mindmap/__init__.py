"""Mind-maps: the tree, readers of many forms, metrics that compare two maps, and pictures.

Example:
    >>> from arena.mindmap import evaluate, read_mind_map
    >>> gold, _ = read_mind_map({"Graphs": ["Shortest paths", "Colouring"]})
    >>> evaluate(gold, gold, ["heading_soft_recall"])
    {'heading_soft_recall': 1.0}
"""

from arena.mindmap.metrics import cosines, forget_labels, unit_vectors
from arena.mindmap.metrics.heading_overlap import cardinality
from arena.mindmap.pictures import beside, matches
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
    "MindMap",
    "MindMapReader",
    "beside",
    "cardinality",
    "cosines",
    "cut",
    "evaluate",
    "floors",
    "forget_labels",
    "identity",
    "matches",
    "mind_map_reader",
    "random_map",
    "read_mind_map",
    "unit_vectors",
]
