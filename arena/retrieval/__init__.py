"""Search engines behind one protocol, found by name.

A retriever knows documents by number and never sees an episode. It gets a `Scope`, the documents
that exist for the one who asks, and returns a `Ranking` inside it.
"""

from arena.retrieval._names import Combiner
from arena.retrieval.base import RETRIEVERS, IndexInput, Ranking, Request, Retriever, Scope

__all__ = ["RETRIEVERS", "Combiner", "IndexInput", "Ranking", "Request", "Retriever", "Scope"]
