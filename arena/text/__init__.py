"""Text analysis shared by index building and querying."""

from arena.text.analyzer import STOP_WORDS, analyze, tokenize

__all__ = ["STOP_WORDS", "analyze", "tokenize"]
