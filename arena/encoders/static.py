"""The encoder ``static``: WordLlama, a table of word piece vectors. No torch, no network.

The vector of a text is the mean of the vectors of its word pieces (WordLlama, release 0.4,
``l2_supercat``, 256 dimensions, which the package ships).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders.base import encoder
from arena.kit.files import sha256_file
from arena.kit.lazy import load, once, package_directory, require, versions

_FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
KEPT = 1 << 14
"""Texts whose vectors are kept, 16 MB: agents compare the same titles again and again."""


@encoder("static")
class Static:
    """Means of static word piece vectors (WordLlama): fast, offline, no torch."""

    dimension = 256

    def __init__(self) -> None:
        require("the encoder static", "wordllama")
        self._kept: dict[str, NDArray[np.float32]] = {}

    @once
    def config(self) -> dict[str, Any]:
        """Model, hashes of its files, and versions."""
        package = package_directory("wordllama")
        return {
            "model": "wordllama l2_supercat 256",
            "files": {Path(name).name: sha256_file(package / name) for name in _FILES},
            "pooling": "mean",
            "runtime": {"versions": versions("wordllama", "tokenizers")},
        }

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean vector of each text; zeros where a text has no word piece."""
        found = {text: known for text in texts if (known := self._kept.get(text)) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in found]:
            encode = self._model.tokenizer.encode_batch
            made = dict(zip(new, self._means(encode(new, add_special_tokens=False)), strict=True))
            found |= made
            if len(self._kept) + len(made) > KEPT:
                self._kept.clear()
            if len(made) <= KEPT:
                self._kept.update(made)
        return np.array([found[text] for text in texts], np.float32).reshape(-1, self.dimension)

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the same as `documents`, without the tokenizer's thread pool.

        A process that forks after using that pool warns on standard error.
        """
        tokenizer = self._model.tokenizer
        return self._means([tokenizer.encode(text, add_special_tokens=False) for text in texts])

    labels = queries  # a mean does not depend on the company

    def _means(self, encoded: list[Any]) -> NDArray[np.float32]:
        table = self._model.embedding
        means = np.zeros((len(encoded), self.dimension), np.float32)
        for mean, text in zip(means, encoded, strict=True):
            if text.ids:
                # The table has float16 values: their float64 sums are exact, so that neither
                # the order of the words nor the machine shows in the last digit.
                mean[:] = table[text.ids].sum(axis=0, dtype=np.float64) / len(text.ids)
        return means

    @once
    def _model(self) -> Any:
        model = load("wordllama").WordLlama.load(
            cache_dir=package_directory("wordllama"), disable_download=True
        )
        model.tokenizer.no_padding()
        return model
