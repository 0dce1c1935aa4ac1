"""The extractor ``noun_chunks``: what the headings are about, named or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.extractors._spacy_model import SpacyModel
from arena.extractors.base import EXTRACTORS


@EXTRACTORS.register("noun_chunks")
class NounChunks:
    """Noun phrases without their articles, by spaCy (en_core_web_sm), offline."""

    def __init__(self) -> None:
        self._model = SpacyModel("the extractor noun_chunks", ("ner", "lemmatizer"))

    @property
    def config(self) -> dict[str, Any]:
        """Model, a hash of its files, versions."""
        return {"finds": "doc.noun_chunks without determiners", **self._model.config}

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the noun phrases of each label, without determiners such as "the" before them."""
        return self._model.read(labels, _phrases)


_BEFORE = ("DET", "SPACE")


def _phrases(doc: Any) -> frozenset[str]:
    found = set()
    for chunk in doc.noun_chunks:
        first = next((i for i, token in enumerate(chunk) if token.pos_ not in _BEFORE), len(chunk))
        found.add(chunk[first:].text)
    return frozenset(found - {""})
