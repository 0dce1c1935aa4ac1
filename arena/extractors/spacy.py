"""The extractor ``spacy``: named entities by spaCy's small English model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.extractors._spacy_model import SpacyModel
from arena.extractors.base import EXTRACTORS


@EXTRACTORS.register("spacy")
class Spacy:
    """Named entities by spaCy (en_core_web_sm), offline; sparse on scientific headings."""

    def __init__(self) -> None:
        # The parser stays: no entity goes across the end of a sentence, and it finds those.
        self._model = SpacyModel("the extractor spacy", ("tagger", "attribute_ruler", "lemmatizer"))

    @property
    def config(self) -> dict[str, Any]:
        """Model, a hash of its files, versions."""
        return {"finds": "doc.ents", **self._model.config}

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts of the entities of each label, whatever their type."""
        return self._model.read(labels, lambda doc: frozenset(span.text for span in doc.ents))
