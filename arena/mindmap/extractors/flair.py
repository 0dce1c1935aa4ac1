"""The extractor ``flair``: named entities by FLAIR, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file
from arena._internal.lazy import load, once, require, versions
from arena._internal.options import flag
from arena.errors import DataError, clip
from arena.mindmap.extractors import EXTRACTORS, one_thread

# The names that `flair.nn.Classifier.load` gives models for English entities, and where they are.
_HUB = {
    name: f"flair/{name.replace('ner', 'ner-english', 1)}"
    for name in ("ner", "ner-fast", "ner-large", "ner-ontonotes", "ner-ontonotes-fast",
                 "ner-ontonotes-large")
}  # fmt: skip
_FILE = "pytorch_model.bin"


@EXTRACTORS.register("flair")
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

        Raises:
            DataError: An option is of the wrong type, or flair is not installed.
        """
        require("the extractor flair", "flair")
        if not isinstance(model, str) or not model:
            raise DataError(f"model={clip(model)}: give the path of a model file, or a name.")
        self._name, self._download = model, flag("download", download)
        # A name of flair's is never a file that happens to lie in the current folder.
        self._is_file = model not in _HUB and Path(model).expanduser().is_file()

    @once
    def config(self) -> dict[str, Any]:
        """The model's name, a hash of its file, and versions; a DataError if it is not here."""
        return {
            "finds": "spans",
            "model": "a local file" if self._is_file else _HUB.get(self._name, self._name),
            "files": {"a local file" if self._is_file else _FILE: sha256_file(self._path)},
            "runtime": {"versions": versions("flair", "torch")},
        }

    def entities(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """Return the texts of the spans found in each label, which is tagged by itself.

        Raises:
            DataError: The model is not on this machine and cannot be fetched, or is no model of
                flair.
        """
        with one_thread():
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
                f"model={clip(self._name)} is no model that flair can load: {_first(error)}."
            ) from None

    @once
    def _path(self) -> Path:
        if self._is_file:
            return Path(self._name).expanduser()
        if self._name.startswith(("/", "~", ".")) or self._name.endswith(".pt"):
            raise DataError(f"model={clip(self._name)}: there is no such file.")
        repository = _HUB.get(self._name, self._name)
        hub, cache = load("huggingface_hub"), load("flair").cache_root / "models"
        folder = cache / repository.rpartition("/")[2]  # where flair itself keeps it
        try:
            kept = hub.try_to_load_from_cache(repository, _FILE, cache_dir=folder)
            if isinstance(kept, str):
                return Path(kept)
            if self._download:
                return Path(hub.hf_hub_download(repository, _FILE, cache_dir=folder))
        except Exception as error:  # the hub's own, httpx's and the operating system's
            raise DataError(
                f"the model {clip(self._name)} could not be fetched: {_first(error)}."
            ) from None
        raise DataError(
            f"the model {clip(self._name)} is not on this machine. Allow the extractor flair to "
            "fetch it with the option download=true, or give the path of a model file as the "
            "option model."
        )


def _first(error: Exception) -> str:
    """Return the first line of an error."""
    return clip((str(error).strip() or type(error).__name__).splitlines()[0], 160)
