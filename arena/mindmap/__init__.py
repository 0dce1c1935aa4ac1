"""Mind-maps: the tree, a reader for the forms that are out there, and metrics that compare two.

Example:
    >>> from arena.mindmap import evaluate, read_mind_map
    >>> gold, _ = read_mind_map({"Graphs": ["Shortest paths", "Colouring"]})
    >>> evaluate(gold, gold, ["heading_soft_recall"])
    {'heading_soft_recall': 1.0}
"""

from arena.mindmap._cardinality import cardinality
from arena.mindmap._read import read_mind_map
from arena.mindmap._registry import MIND_MAP_METRICS, MindMapMetric
from arena.mindmap._scoring import evaluate, identity
from arena.mindmap.tree import MindMap

__all__ = [
    "MIND_MAP_METRICS",
    "MindMap",
    "MindMapMetric",
    "cardinality",
    "evaluate",
    "identity",
    "read_mind_map",
]
