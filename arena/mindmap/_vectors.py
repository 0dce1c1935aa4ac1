"""Labels to vectors whose cosines are exact: the same on every machine, in any company."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS, Encoder, make_encoder
from arena.encoders.base import option_names
from arena.errors import DataError, clip

_KEPT = 16_384  # vectors of labels; of static's, 16 MiB
# Components are rounded to multiples of 2^-25. The products of two are multiples of 2^-50 and all
# partial sums of a cosine stay below 2, so that float64 adds them without error in any order: the
# matrix product gives the same bits whatever its shape, its threads and its processor.
_SCALE = 1 << 25


def unit_vectors(labels: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of labels, of length 1 or 0, rounded to multiples of 2^-25.

    A label is encoded by itself, as a query is, but without an instruction for queries. The
    vectors of a registered encoder are kept, for 16,384 labels of all encoders together.

    Args:
        labels: At least one, none blank.
        encoder: The name of a registered encoder, made with its default options, or an encoder.

    Returns:
        Shape (len(labels), dimension); zeros where the encoder gives zeros.

    Raises:
        UnknownNameError: There is no such encoder.
        DataError: Its packages are absent, or a vector has another shape or is not finite.
    """
    if isinstance(encoder, str):
        found = [_kept(encoder, label) for label in labels]
    elif hasattr(encoder, "queries"):
        found = [_unit(encoder, label) for label in labels]
    else:
        raise DataError(f"encoder {clip(encoder)}: expected the name of one, or an encoder.")
    return np.stack(found) / float(_SCALE)


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


@functools.lru_cache(_KEPT)  # safe with threads, and with a fork while another thread is in it
def _kept(name: str, label: str) -> NDArray[np.int32]:
    return _unit(named_encoder(name), label)


def _unit(encoder: Encoder, label: str) -> NDArray[np.int32]:
    vectors = np.asarray(encoder.queries([label]), np.float64)
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
