"""Labels to vectors whose cosines are exact: the same on every machine, in any company."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS, Encoder, make_encoder
from arena.errors import DataError, clip
from arena.mindmap._memory import ByLabel
from arena.registry import option_names

_KEPT = 16_384  # vectors of labels; of static's, 16 MiB
# Components are rounded to multiples of 2^-25. The products of two are multiples of 2^-50 and all
# partial sums of a cosine stay below 2, so that float64 adds them without error in any order: the
# matrix product gives the same bits whatever its shape, its threads and its processor.
_SCALE = 1 << 25


def unit_vectors(labels: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of labels, of length 1 or 0, rounded to multiples of 2^-25.

    A label's vector does not depend on the others: an encoder's method ``labels`` promises that,
    and to one without it labels are given one by one, as queries. No instruction for queries is
    put before them. The vectors of a registered encoder are kept, for 16,384 labels of all
    encoders together.

    Args:
        labels: At least one, none blank.
        encoder: The name of a registered encoder, made with its default options, or an encoder.

    Returns:
        Shape (len(labels), dimension); zeros where the encoder gives zeros.

    Raises:
        UnknownNameError: There is no such encoder.
        DataError: Its packages are absent, or a vector has another shape or is not finite.
    """
    if not isinstance(encoder, str) and not hasattr(encoder, "queries"):
        raise DataError(f"encoder {clip(encoder)}: expected the name of one, or an encoder.")
    return np.stack(_memory.get(encoder, labels)) / float(_SCALE)


def named_encoder(name: str) -> Encoder:
    """Return the one encoder of this name that all scoring in this process shares."""
    made = _made.get(name) if isinstance(name, str) else None
    if made is None:
        # BGE's instruction is for finding passages; labels are compared with their like.
        plain = "query_instruction" in option_names(ENCODERS.get(name))
        options: dict[str, Any] = {"query_instruction": ""} if plain else {}
        made = _made.setdefault(name, make_encoder(name, options))
    return made


_made: dict[str, Encoder] = {}


def _units(encoder: Encoder, labels: list[str]) -> list[NDArray[np.int32]]:
    together = getattr(encoder, "labels", None)
    if together is None:
        return [_unit(label, encoder.queries([label])) for label in labels]
    vectors = together(labels)
    if len(vectors) != len(labels):
        raise DataError(f"the encoder gave {len(vectors)} vectors for {len(labels)} labels.")
    return [_unit(label, vectors[i : i + 1]) for i, label in enumerate(labels)]


def _unit(label: str, row: NDArray[np.float32]) -> NDArray[np.int32]:
    vectors = np.asarray(row, np.float64)
    if vectors.ndim != 2 or len(vectors) != 1 or not np.isfinite(vectors).all():
        raise DataError(
            f"the encoder gave {clip(label)} a vector that is not finite or of the wrong shape, "
            f"{vectors.shape}: expected (1, dimension)."
        )
    vector = vectors[0]
    largest = float(np.abs(vector).max(initial=0.0))
    if largest > 0:
        vector = vector / largest  # squares of very small or large numbers would be lost
        vector = vector / math.sqrt(math.fsum(vector * vector))
    unit: NDArray[np.int32] = np.rint(vector * _SCALE).astype(np.int32)
    unit.flags.writeable = False
    return unit


_memory = ByLabel(_units, named_encoder, _KEPT)
