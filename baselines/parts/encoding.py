"""Vectors of texts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.encoders import Encoder, make_encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(texts: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of texts, shape (n, dimension); a blank text has zeros.

    Args:
        texts: Texts without halves of surrogate pairs, see `whole_characters`.
        encoder: Name of a registered encoder, or an encoder.
    """
    import numpy as np

    model = shared_encoder(encoder) if isinstance(encoder, str) else encoder
    # Each text once, so that papers that are alike have the same vector to the last digit.
    distinct = {text: n for n, text in enumerate(dict.fromkeys(filter(str.strip, texts)))}
    vectors = np.zeros((len(texts), model.dimension))
    if distinct:
        rows = [place for place, text in enumerate(texts) if text in distinct]
        encoded = np.asarray(model.documents(list(distinct)), np.float64)
        vectors[rows] = encoded[[distinct[texts[place]] for place in rows]]
    return vectors


@functools.cache
def shared_encoder(name: str) -> Encoder:
    """Return the one encoder of this name in this process: a model is loaded once."""
    return make_encoder(name, {})


def whole_characters(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, which no encoder takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
