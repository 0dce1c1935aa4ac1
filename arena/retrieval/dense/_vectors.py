"""Vectors of the papers on disk, float16 rows in one ``.npy`` file, and vectors of queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS, Encoder, make_encoder
from arena.errors import CorpusError, DataError, clip
from arena.kit.arrays import damaged, load_array
from arena.kit.files import read_json, schema_error
from arena.kit.lazy import once
from arena.kit.options import parameters_of
from arena.plugins import recorded_name
from arena.text.display import replace_surrogates

VECTORS = "vectors.npy"
DOCUMENTS = "documents.npy"
ENCODER = "encoder.json"
MAX_DIMENSION = 65_536

_DESCRIPTION = {"encoder": str, "options": dict, "config": dict, "dimension": int, "fields": list}


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return rows, shape (n, dimension), of length 1 and rounded to float16; zero stays zero."""
    exact = np.asarray(vectors, np.float64)
    if not np.isfinite(exact).all():
        raise DataError("the encoder returned a vector that contains NaN or an infinity.")
    # Added up from left to right, so that neither the processor nor the neighbours show.
    lengths = np.sqrt(np.add.accumulate(exact * exact, axis=1)[:, -1])
    lengths[lengths == 0] = 1.0
    return (exact / lengths[:, None]).astype(np.float16)


def load_vectors(directory: Path, dimension: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the vectors, shape (rows, dimension), and the document number of each row, mapped."""
    documents = load_array(directory / DOCUMENTS, np.uint32)
    return load_matrix(directory / VECTORS, np.float16, (len(documents), dimension)), documents


def load_matrix(path: Path, dtype: type, shape: tuple[int, int]) -> NDArray[Any]:
    """Return the array in a file, mapped, if it is as the other files of an index say."""
    array = load_array(path)
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        raise damaged(
            path,
            f"it has {array.dtype} of shape {array.shape}, {DOCUMENTS} and {ENCODER} say "
            f"{np.dtype(dtype)} of {clip(shape)}",
        )
    return array


def read_description(directory: Path) -> dict[str, Any]:
    """Return the description of an index: its encoder, dimension and fields."""
    path = directory / ENCODER
    try:
        description = read_json(path)
        why = schema_error(description, _DESCRIPTION)
    except ValueError as error:
        why = clip(str(error))
    if why is not None:
        raise CorpusError(f"{str(path)!r} is missing or damaged: {why}. Build the index again.")
    return description  # type: ignore[no-any-return]


class QueryVectors:
    """float16 query vectors; the `keep` most recently used are kept.

    A `model` is a folder to use in place of the one that the index was built with.
    """

    def __init__(
        self,
        directory: Path,
        description: dict[str, Any],
        device: str,
        model: str | None,
        keep: int,
    ) -> None:
        self._directory, self._description = directory, description
        name, options = description["encoder"], dict(description["options"])
        known = parameters_of(ENCODERS.get(recorded_name(name, directory)))
        if model is not None:
            if "model" not in known:
                raise DataError(f"model={clip(model)}: the encoder {name} takes no model.")
            options["model"] = model
            # An encoder may derive it from the model's name, and the folder's may be another.
            if "query_instruction" in known and "query_instruction" in description["config"]:
                options["query_instruction"] = description["config"]["query_instruction"]
        if "device" in known:
            options["device"] = device
        self._encoder: Encoder = make_encoder(name, options)
        # Of a query: its vector, once it is made.
        self._place: Callable[[str], list[Any]] = lru_cache(maxsize=keep)(lambda _: [])

    @property
    def kind(self) -> type[Encoder]:
        """The class of the encoder."""
        return type(self._encoder)

    @property
    def config(self) -> dict[str, Any]:
        """The encoder that was indexed with, and what may differ in the one that searches."""
        stored = self._description["config"]
        return {
            "name": self._description["encoder"],
            **stored,
            "query_runtime": self._encoder.config.get("runtime", {}),
        }

    def get(self, query: str) -> NDArray[np.float16] | None:
        """Return the vector of a query, or None if there is nothing in it to search for."""
        return self.all([query])[0]

    def all(self, queries: Sequence[Any]) -> list[NDArray[np.float16] | None]:
        """Return what `get` returns for each query, and a vector for itself.

        No vector depends on the other queries: they are encoded one by one, unless the encoder says
        that it gives the same bits `together`.
        """
        texts = [query for query in queries if isinstance(query, str)]
        # No tokenizer takes a lone surrogate.
        places = {q: self._place(replace_surrogates(q)) for q in texts if q.strip()}
        new = [query for query, place in places.items() if not place]
        size = len(new) if getattr(self._encoder, "together", False) else 1
        for low in range(0, len(new), size or 1):
            part = new[low : low + size]
            given = [replace_surrogates(query) for query in part]
            vectors = np.asarray(self._same_encoder.queries(given), np.float32)
            if vectors.shape != (len(part), self._description["dimension"]):
                raise self._differs(f"vectors of shape {vectors.shape}")
            for query, vector in zip(part, normalised(vectors), strict=True):
                places[query].append(vector if vector.any() else None)
        return [places.get(q, [None])[0] if isinstance(q, str) else q for q in queries]

    @once
    def _same_encoder(self) -> Encoder:
        """The encoder, compared with the one of the index; hashing a model takes a moment."""
        built, now = self._description["config"], self._encoder.config
        if self._encoder.dimension != self._description["dimension"]:
            raise self._differs(self._encoder.dimension)
        ignored = {"runtime"}
        if built.get("files") and built["files"] == now.get("files"):
            ignored.add("model")  # a name: the files are the model
        keys = sorted((built.keys() | now.keys()) - ignored)
        differing = [key for key in keys if built.get(key) != now.get(key)]
        if differing:
            pairs = "; ".join(_difference(key, built.get(key), now.get(key)) for key in differing)
            raise CorpusError(
                f"the index in {str(self._directory)!r} was built with another encoder than the "
                f"{self._description['encoder']} of today: {pairs}. Give the model that it was "
                "built with (option model=), or build the index again."
            )
        return self._encoder

    def _differs(self, gives: object) -> CorpusError:
        return CorpusError(
            f"the index in {str(self._directory)!r} has vectors of "
            f"{self._description['dimension']} dimensions, the encoder "
            f"{self._description['encoder']} now gives {gives}. Build the index again."
        )


def _difference(key: str, built: Any, now: Any) -> str:
    if isinstance(built, dict) and isinstance(now, dict):
        names = sorted(built.keys() | now.keys())
        key, built, now = next(
            (f"{key} {name}", built.get(name), now.get(name))
            for name in names
            if built.get(name) != now.get(name)
        )
    return f"{key} was {clip(built)}, is {clip(now)}"
