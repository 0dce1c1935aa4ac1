"""The infos of many environments as one, in the form that Gymnasium's vectors give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Infos = dict[str, Any]
_NUMBERS = (int, float, bool)


def merged(numbers: Sequence[int], infos: list[Infos], size: int) -> Infos:
    """Return what Gymnasium's ``VectorEnv._add_info`` makes of the infos, one after another.

    Args:
        numbers: of the environments that the infos are of, ascending.
        infos: not empty.
        size: how many environments there are.
    """
    found: Infos = {}
    keys = infos[0].keys()
    alike = all(info.keys() == keys for info in infos)
    for key in keys if alike else dict.fromkeys(key for info in infos for key in info):
        rows, given = numbers, infos
        if not alike:
            rows = [number for number, info in zip(numbers, infos, strict=True) if key in info]
            given = [info for info in infos if key in info]
        values = [info[key] for info in given]
        if key != "final_obs" and isinstance(values[0], dict):
            found[key] = merged(rows, values, size)
        else:
            # The first value says the type, as it does there.
            kind = type(values[0])
            if kind not in _NUMBERS and not issubclass(kind, np.number):
                kind = object
            found[key] = column = np.full(size, None if kind is object else 0, kind)
            for number, value in zip(rows, values, strict=True):
                column[number] = value
        found[f"_{key}"] = mask = np.zeros(size, np.bool_)
        mask[rows if len(rows) < size else slice(None)] = True
    return found
