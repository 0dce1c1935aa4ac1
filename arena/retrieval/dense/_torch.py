"""Exact search over a prefix of the rows by torch, where there is a GPU."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._internal.lazy import resolve_device
from arena.errors import DataError, clip
from arena.retrieval.dense._flat import FlatSearch, Found, Searcher, Wanted, best

_BLOCK_ROWS = 65_536
_SCORES = 2**27  # of a group of queries, at most: 1 GiB


def fastest(vectors: NDArray[np.float16], flat: FlatSearch, device: str) -> Searcher:
    """Return `flat`, or a search on the device that `device` stands for (`resolve_device`).

    Raises:
        DataError: if a device that was named is absent or too small; ``"auto"`` then is `flat`.
    """
    resolved = resolve_device(device)
    if resolved == "cpu":
        return flat
    try:
        return _OrFlat(TorchSearch(vectors, resolved), flat, device)
    except RuntimeError as error:  # as torch reports that its memory is too small
        if device == "auto":
            return flat
        raise _too_small(device, "hold the index", error) from None


def _too_small(device: str, what: str, error: RuntimeError) -> DataError:
    return DataError(
        f"device={device!r} cannot {what}: {clip(str(error), 160)}. Give device='cpu'."
    )


class _OrFlat:
    """Search on a device, and what it cannot do, for want of memory, on the CPU."""

    def __init__(self, there: Searcher, flat: FlatSearch, device: str) -> None:
        self._there, self._flat, self._device = there, flat, device

    def search(self, wanted: Sequence[Wanted]) -> list[Found]:
        """Return the best rows of each, the same ones wherever they are found."""
        try:
            return self._there.search(wanted)
        except RuntimeError as error:
            if self._device == "auto":
                return self._flat.search(wanted)
            raise _too_small(self._device, "do this search", error) from None


class TorchSearch:
    """The same results as `FlatSearch`, bit for bit, from a copy of the vectors on a device.

    All products are float64, and so exact at once. A GPU has arithmetic to spare for that, and
    a program cannot make torch round them, as it can with float32 (TF32, bfloat16).

    Args:
        vectors: float16, shape (rows, dimension).
        device: torch's name of it.
    """

    def __init__(self, vectors: NDArray[np.float16], device: str) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._device = device
        self._matrix = self._torch.empty(
            vectors.shape, dtype=self._torch.float16, device=self._device
        )
        for low in range(0, len(vectors), _BLOCK_ROWS):
            block = np.array(vectors[low : low + _BLOCK_ROWS])  # torch wants it writable
            self._matrix[low : low + len(block)] = self._torch.from_numpy(block).to(device)

    def search(self, wanted: Sequence[Wanted]) -> list[Found]:
        """Return the best rows of each."""
        if not wanted:
            return []
        group = max(1, _SCORES // max(one.end for one in wanted))
        with self._torch.inference_mode():
            return [
                found
                for low in range(0, len(wanted), group)
                for found in self._group(wanted[low : low + group])
            ]

    def _group(self, wanted: Sequence[Wanted]) -> list[Found]:
        torch = self._torch
        queries = torch.from_numpy(np.stack([one.query for one in wanted])).to(self._device)
        rows = max(one.end for one in wanted)
        scores = torch.empty((len(wanted), rows), dtype=torch.float64, device=self._device)
        for low in range(0, rows, _BLOCK_ROWS):
            block = self._matrix[low : min(low + _BLOCK_ROWS, rows)].double()
            scores[:, low : low + len(block)] = queries.double() @ block.T
        return [self._best(one, scores[i, : one.end]) for i, one in enumerate(wanted)]

    def _best(self, one: Wanted, scores: Any) -> Found:
        torch = self._torch
        if len(one.excluded):
            scores[torch.from_numpy(one.excluded).to(self._device)] = -torch.inf
        # Of equal scores topk takes any; all that reach the last one are ordered here.
        last = torch.topk(scores, one.k, sorted=False).values.min()
        rows = torch.nonzero(scores >= last).ravel()
        return best(rows.cpu().numpy(), scores[rows].cpu().numpy(), one.k)
