"""Helpers for tests of the engine lucene."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers import Papers as Papers

from arena.errors import ArenaError
from arena_engines.retrievers import lucene
from arena_engines.retrievers.lucene import JavaProcess, LuceneRetriever, _worker, requirements

try:
    requirements()
except ArenaError as error:
    pytest.skip(str(error), allow_module_level=True)


class Here(JavaProcess):
    """Does the work of the other process in this one, in place of one that takes a second to start.

    What would go through the pipes is the same JSON.
    """

    segment_tokens = 16_000_000

    def __init__(self, failing: str, task: str, directory: str, *bm25: str) -> None:
        self._failing, self._directory, self.versions = failing, Path(directory), {}
        self._texts: list[str] = []
        self._answer = ""
        if task == "search":
            self._index = self._try(lambda: _worker.Index(self._directory, *map(float, bm25)))
            if not self._answer:
                self._answer = json.dumps({"shape": self._index.shape})

    def _try(self, call: Any) -> Any:
        try:
            return call()
        except Exception as error:
            self._answer = _worker.failure(error, "")

    def send(self, value: Any) -> None:
        value = json.loads(json.dumps(value))
        if isinstance(value, str):
            self._texts.append(value)
        elif value is None:
            counts = _worker.write(self._texts, self._directory, self.segment_tokens)
            self._answer = json.dumps(counts)
        else:
            with ThreadPoolExecutor(1) as pool:
                self._answer = _worker.answer_batch(self._index, pool, value)

    def receive(self) -> dict[str, Any]:
        return self._checked(json.loads(self._answer))

    def close(self) -> None:
        pass


def build(
    papers: list[str | None], directory: Path, segment_tokens: int = 16_000_000, **options: Any
) -> LuceneRetriever:
    """Build an index in this process and open it; see `opened`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lucene, "JavaProcess", Here)
        patch.setattr(Here, "segment_tokens", segment_tokens)
        LuceneRetriever.build(Papers(papers), directory, ("title",), lambda iterable: iterable)
    return opened(directory, **options)


def opened(directory: Path, **options: Any) -> LuceneRetriever:
    """Open an index, to search in this process."""
    engine = LuceneRetriever.open(directory, **options)
    start = engine._start

    def start_here() -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lucene, "JavaProcess", Here)
            return start()

    engine._start = start_here
    return engine
