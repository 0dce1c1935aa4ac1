"""Lucene as of a day: the engine named ``lucene``, an extra of the same name."""

from arena.retrieval.lucene._java import requirements
from arena.retrieval.lucene.retriever import LuceneRetriever

__all__ = ["LuceneRetriever", "requirements"]
