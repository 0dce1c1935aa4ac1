"""Models of pairs of texts: does the first one support the second one, deny it, or neither?

@pair("mine")
class Mine(PairModel):
    def probabilities(self, pairs): ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from arena.errors import DataError, clip
from arena.kit.lazy import load
from arena.kit.process import one_thread
from arena.plugins import Registry
from corpus_builder.release.folder import existing_folder

CLASSES = ("contradiction", "entailment", "neutral")


class PairModel(ABC):
    """A model of natural language inference."""

    @abstractmethod
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return the probabilities of contradiction, entailment and neutral, in this order.

        Args:
            pairs: Premise and hypothesis of each; at least one pair.

        Returns:
            Shape (len(pairs), 3); each row sums to 1.
        """


PAIR_MODELS: Registry[type[PairModel]] = Registry("pair", base=PairModel)
pair = PAIR_MODELS.register
"""Decorator of a class of models of pairs: ``@pair("name")``."""


@pair("nli")
class Nli(PairModel):
    """A cross-encoder with three classes, as cross-encoder/nli-deberta-v3-base, from a folder.

    Args:
        model: Folder with its weights (safetensors), its configuration and its tokenizer.
        batch_size: Pairs at a time.
    """

    def __init__(self, model: str, batch_size: Annotated[int, Ge(1)] = 16) -> None:
        folder = existing_folder(model)
        transformers = load("transformers", "the pair model nli")
        options: dict[str, Any] = {"local_files_only": True}
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        classes = transformers.AutoModelForSequenceClassification
        self._model = classes.from_pretrained(folder, use_safetensors=True, **options).eval()
        names = [str(name).lower() for _, name in sorted(self._model.config.id2label.items())]
        if sorted(names) != sorted(CLASSES):
            raise DataError(f"{model!r} has the classes {clip(names)}: expected {CLASSES}.")
        self._order = [names.index(name) for name in CLASSES]
        self._size = batch_size

    @one_thread()
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return the softmax of the model's three logits."""
        torch, rows = load("torch", "the pair model nli"), []
        for low in range(0, len(pairs), self._size):
            first, second = zip(*pairs[low : low + self._size], strict=True)
            texts = self._tokenizer(
                list(first), list(second), padding=True, truncation=True, return_tensors="pt"
            )
            with torch.inference_mode():
                rows.append(self._model(**texts).logits.double().softmax(-1).numpy())
        return np.concatenate(rows)[:, self._order]
