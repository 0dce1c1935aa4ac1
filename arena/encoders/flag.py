"""The encoder ``flag``: a transformer through FlagEmbedding's `FlagModel`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders._device import resolve
from arena.encoders._flag_model import FlagModelRunner, folder, hashes, is_local
from arena.encoders._once import once
from arena.encoders._packages import require, versions
from arena.encoders.base import ENCODERS
from arena.errors import DataError, clip, did_you_mean

_PACKAGES = ("FlagEmbedding", "transformers", "torch", "tokenizers")
_BATCH_SIZES = {"cpu": 32}  # others: 256

BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "


@ENCODERS.register("flag")
class FlagEncoder:
    """A transformer through FlagEmbedding's FlagModel: BGE, or any local model folder."""

    def __init__(
        self,
        model: str = "BAAI/bge-base-en-v1.5",
        pooling: str = "cls",
        query_instruction: str | None = None,
        max_length: int = 512,
        batch_size: int | None = None,
        device: str = "auto",
        precision: str = "auto",
    ) -> None:
        """Check the options; the model is loaded by the first text.

        Args:
            model: a local folder, or a name on the Hugging Face hub, which is downloaded once.
                Its weights are safetensors; pickles are refused.
            pooling: ``"cls"`` or ``"mean"``, as the model was trained.
            query_instruction: put before every query. None means BGE's for a model named
                ``.../bge-...-en...``, else nothing.
            max_length: word pieces of a text that are read, from 8; the rest is cut off.
            batch_size: texts at once; None means 32 on a CPU, 256 elsewhere.
            device: ``"auto"`` (CUDA if there is one, else the CPU), ``"cpu"``, ``"cuda"``,
                ``"cuda:1"``, ``"mps"``.
            precision: ``"float16"``, ``"float32"``, or ``"auto"``: float16 on CUDA, else float32.

        Raises:
            DataError: if an option is out of its range, or a package is absent.
        """
        require("the encoder flag", "FlagEmbedding", "torch", "transformers")
        if not isinstance(model, str) or not model:
            raise DataError(f"model={clip(model)}: name a folder or a model of the hub.")
        _choice("pooling", pooling, ("cls", "mean"))
        _choice("precision", precision, ("auto", "float16", "float32"))
        if query_instruction is None:
            bge = model.rpartition("/")[2].startswith("bge-") and "-en" in model
            query_instruction = BGE_INSTRUCTION if bge else ""
        if not isinstance(query_instruction, str):
            raise DataError(f"query_instruction={clip(query_instruction)} is no string.")
        _integer("max_length", max_length, 8)
        if batch_size is not None:
            _integer("batch_size", batch_size, 1)
        if not isinstance(device, str):
            raise DataError(f"device={clip(device)}: give auto, cpu, cuda or mps.")
        self._model, self._pooling, self._instruction = model, pooling, query_instruction
        self._max_length, self._batch_size = max_length, batch_size
        self._device, self._precision = device, precision
        self._name: str | None = None

    @once
    def dimension(self) -> int:
        """Components of a vector, as the model's own configuration says."""
        path = self._folder / "config.json"
        try:
            return int(json.loads(path.read_bytes())["hidden_size"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{str(path)!r} does not tell the size of its vectors ({clip(str(error))}). "
                "Give the folder of a transformers model."
            ) from None

    @once
    def config(self) -> dict[str, Any]:
        """Model, a hash of its files, pooling, instruction, length; device and versions."""
        device, precision = self._where
        return {
            "model": self._name or ("a local folder" if is_local(self._model) else self._model),
            "files": hashes(self._folder),
            "pooling": self._pooling,
            "query_instruction": self._instruction,
            "max_length": self._max_length,
            "runtime": {
                "device": device.partition(":")[0],
                "precision": precision,
                "batch_size": self._batch,
                "versions": versions(*_PACKAGES),
            },
        }

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the pooled vector of each text, normalised.

        Texts of like length share a batch, as FlagModel does it; which ones do depends on `texts`
        and the batch size, and moves the last digits of a float32.
        """
        return self._loaded.many(list(texts), self._batch)

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the instruction followed by each text, encoded one at a time."""
        return self._loaded.each([self._instruction + text for text in texts])

    def labels(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of headings to compare with each other; without the instruction.

        A vector has the same bits in any company and differs from that of the same text among
        `queries`, if no instruction is put before them, in the last digits.
        """
        return self._loaded.alike(list(texts))

    @once
    def _folder(self) -> Path:
        return folder(self._model)

    @once
    def _where(self) -> tuple[str, str]:
        device = resolve(self._device)
        automatic = "float16" if device.startswith("cuda") else "float32"
        return device, automatic if self._precision == "auto" else self._precision

    @property
    def _batch(self) -> int:
        return self._batch_size or _BATCH_SIZES.get(self._where[0], 256)

    @once
    def _loaded(self) -> FlagModelRunner:
        device, precision = self._where
        return FlagModelRunner(self._folder, self._pooling, self._max_length, device, precision)


def _choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise DataError(f"{name}={clip(value)}.{did_you_mean(value, known)}")


def _integer(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise DataError(f"{name}={clip(value)}: give an integer >= {least}.")
