"""Dense vectors as of a day: the engine named ``dense``."""

from arena.retrieval.dense.retriever import Dense

__all__ = ["Dense"]
