"""A learned ranker of the papers that an episode has shown; it knows observations alone.

`Pool` turns hits, references and citations into numbers, `Ranker` is a table of trees over them,
`explore` searches once and follows links. ``arena train ranker`` makes a ranker of a corpus.
"""

from arena.ranker.exploring import explore
from arena.ranker.pool import FEATURES, Pool
from arena.ranker.trees import Ranker, open_ranker

__all__ = ["FEATURES", "Pool", "Ranker", "explore", "open_ranker"]
