"""An engine that counts the terms that a query and a paper share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arena.retrieval import IndexInput, Ranking, Retriever, Scope, retriever
from arena.text import analyze


@retriever("overlap")
class Overlap(Retriever):
    """The number of the query's terms that a paper has."""

    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, directory: Path) -> None:
        with (directory / "terms.jsonl").open(encoding="utf-8") as file:
            self._papers = [(number, frozenset(terms)) for number, terms in map(json.loads, file)]

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
    ) -> dict[str, Any]:
        """Write the terms of each paper, one paper a line."""
        with (directory / "terms.jsonl").open("w", encoding="utf-8") as file:
            for number, text in progress(source.texts(fields)):
                file.write(json.dumps([number, sorted(set(analyze(text)))]) + "\n")
        return {"fields": list(fields)}

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return at most `k` documents of `scope`; ties go to the lower number."""
        wanted, hidden = set(analyze(query)), set(scope.excluded)
        found = sorted(
            (-len(wanted & terms), number)
            for number, terms in self._papers
            if number < scope.end and number not in hidden and wanted & terms
        )[:k]
        return Ranking(
            np.array([number for _, number in found], np.int64),
            np.array([-score for score, _ in found], np.float64),
        )
