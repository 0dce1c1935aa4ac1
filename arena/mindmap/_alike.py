"""Which labels of two maps mean nearly the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.mindmap._vectors import unit_vectors
from arena.mindmap.tree import MindMap

# In millionths: vectors are rounded too, so that a cosine of 0.8 may come out a little above it.
_THRESHOLD = 800_000


def alike(predicted: MindMap, gold: MindMap, encoder: str | Encoder) -> NDArray[np.bool_]:
    """Return for each pair of labels whether they are equal or their cosine exceeds 0.8.

    Args:
        predicted: Its distinct labels are the rows, as `MindMap.labels` orders them.
        gold: Its distinct labels are the columns.
        encoder: The name of a registered encoder, or an encoder.

    Returns:
        Shape (labels of `predicted`, labels of `gold`). A blank label has no meaning and is like
        its equals alone.
    """
    rows, columns = predicted.labels(), gold.labels()
    found = np.zeros((len(rows), len(columns)), bool)
    told = [[i for i, label in enumerate(labels) if label.strip()] for labels in (rows, columns)]
    if all(told):
        labels = [rows[i] for i in told[0]] + [columns[i] for i in told[1]]
        vectors = unit_vectors(labels, encoder)
        a, b = vectors[: len(told[0])], vectors[len(told[0]) :]
        found[np.ix_(*told)] = np.rint(a @ b.T * 1e6) > _THRESHOLD
    numbers = {label: column for column, label in enumerate(columns)}
    for row, label in enumerate(rows):
        if label in numbers:
            found[row, numbers[label]] = True
    return found
