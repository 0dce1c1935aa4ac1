"""What the tests of the engine lucene share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Papers as Papers

from arena.errors import ArenaError
from arena.retrieval.lucene import LuceneRetriever, _build, requirements

try:
    requirements()
except ArenaError as error:
    pytest.skip(str(error), allow_module_level=True)


class Here:
    """Writes in this process, in place of one that takes a second to start."""

    segment_tokens = 16_000_000

    def __init__(self, directory: Path) -> None:
        self._directory, self._documents = directory, []

    def add(self, terms: str) -> None:
        self._documents.append(terms)

    def finish(self) -> dict[str, Any]:
        return _build.write(self._documents, self._directory, self.segment_tokens)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def build(
    papers: list[str | None], directory: Path, segment_tokens: int = 16_000_000, **options: Any
) -> LuceneRetriever:
    """Build an index in this process and open it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_build, "_Writer", Here)
        patch.setattr(Here, "segment_tokens", segment_tokens)
        LuceneRetriever.build(Papers(papers), directory, ("title",), lambda iterable: iterable)
    return LuceneRetriever.open(directory, **options)
