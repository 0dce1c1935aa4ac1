"""Text analysis shared by index building and querying."""

from arena.text.analyzer import ANALYZER, STOP_WORDS, TermMemo, analyze, tokenize

__all__ = ["ANALYZER", "STOP_WORDS", "TermMemo", "analyze", "tokenize"]
