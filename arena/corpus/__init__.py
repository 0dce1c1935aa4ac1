"""A built corpus, opened: papers are reached only through a view of it at a cutoff."""

from __future__ import annotations

from arena.corpus.corpus import Corpus
from arena.corpus.view import CorpusView, search_batch
from arena.papers import Hit, Paper, Section

__all__ = ["Corpus", "CorpusView", "Hit", "Paper", "Section", "search_batch"]
