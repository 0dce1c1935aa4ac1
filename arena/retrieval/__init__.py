"""Search engines behind one protocol, found by name.

A retriever knows documents by number and never sees an episode. It gets a `Scope`, the documents
that exist for a search, and returns a `Ranking` inside it.
"""

from arena.retrieval.base import (
    RETRIEVERS,
    Combiner,
    IndexInput,
    Name,
    ParallelMap,
    Ranking,
    Request,
    Retriever,
    Scope,
    engine_of,
    parse_name,
    retriever,
)

__all__ = [
    "RETRIEVERS",
    "Combiner",
    "IndexInput",
    "Name",
    "ParallelMap",
    "Ranking",
    "Request",
    "Retriever",
    "Scope",
    "engine_of",
    "parse_name",
    "retriever",
]
