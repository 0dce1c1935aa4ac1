"""BM25 as of a day: the engine named ``bm25``."""

from arena.retrieval.bm25.retriever import BM25Retriever

__all__ = ["BM25Retriever"]
