"""Exact search over a prefix of the rows on a GPU, or on any device that torch knows.

Rows are scored roughly there, and those that may be among the best exactly on the CPU, by the code
of `dense`. How rough a score can be is proven for any order of additions, fused or in blocks:

The components, at most 1, are multiplied by 2^15 first, so that none is subnormal: some devices
take those for zero. A product of two has 22 bits and is exact. The additions make a tree whose
leaves are the n products; a step adds two or more addends. Tensor cores shift addends to the
exponent of the largest, keep 24 bits of that or more, and truncate (Fasi and others 2021,
doi:10.7717/peerj-cs.330; Khattak and Mikaitis 2025, arXiv:2512.07004); IEEE additions lose less.
So each addend loses less than 2^-23 of the largest magnitude in its step, and so does the result,
when it is rounded. At most n - 1 steps have at most 2 n - 2 addends, which makes 3 n - 3 losses.
No magnitude is more than S + E, with S = sum |q_i d_i| <= |q| |d| < 1.001 and E the error of the
score. From E <= 3 (n - 1) 2^-23 (S + E) follows, up to n = 65,536 components,

    E < 1.03 * 3 n 2^-23.

If F is a rough score that k rows of a scope reach, their exact ones reach F - E, and a row whose
rough score is below F - 2 E cannot be among the best k, not even by a tie. Every other row is a
candidate, however many they are.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.kit.lazy import load
from arena.kit.process import cores, one_thread

if TYPE_CHECKING:
    from arena.retrieval.dense import FlatSearch, RowRanking, RowRequest

_SCALE = 2.0**15
_TOGETHER = 2048  # queries that share a tile,
_ROWS = 2**19  # rows that it has at most,
_CELLS = {"cuda": 2**27, "cpu": 2**22}  # and their product
_BLOCK = 64  # rows of which the best is compared first
_CPU_MEMORY = 0  # bytes of it for vectors that stay there
_PIECE = 32  # queries that a thread of the host finishes at once
_HELD = 2**24  # candidates of several queries; of one there may be any number


def error_bound(dimension: int) -> float:
    """Return how far a rough score can be from the exact one; see the top of this module."""
    return 3.1 * dimension * 2.0**-23


class DeviceSearch:
    """Exact search on a device, for one thread at a time; the results are those of `FlatSearch`."""

    def __init__(self, flat: FlatSearch, vectors: NDArray[np.float16], device: str) -> None:
        """Copy `vectors`, shape (rows, dimension), to a device, as torch calls it.

        A GPU keeps as many as fit in three quarters of its free memory, a CPU none; each batch
        copies the others again.
        """
        torch = self._torch = load("torch", "the retriever gpu")
        self._flat, self._vectors, self._lock = flat, vectors, threading.Lock()
        self._device, self._error = torch.device(device), error_bound(vectors.shape[1])
        self._is_cuda = self._device.type == "cuda"
        free = torch.cuda.mem_get_info(self._device)[0] if self._is_cuda else _CPU_MEMORY
        shape = min(len(vectors), int(0.75 * free) // (2 * vectors.shape[1])), vectors.shape[1]
        kept = torch.empty(shape, dtype=torch.float16, device=self._device)
        self._kept = kept[:0]
        for low in range(0, shape[0], _ROWS):
            high = min(low + _ROWS, shape[0])
            kept[low:high] = self._rows(low, high)
        self._kept = kept

    def search(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the best rows of each request; torch's RuntimeError if the device fails."""
        # Longest prefixes first: while rows go up, the queries that still want them are the first.
        order = sorted(range(len(requests)), key=lambda i: -requests[i].end)
        waiting = [order[low : low + _TOGETHER] for low in range(0, len(order), _TOGETHER)]
        rankings: dict[int, RowRanking] = {}
        while waiting:
            some = waiting.pop()
            with self._lock, one_thread(always=True):  # a pool of threads would not survive a fork
                found = self._group([requests[i] for i in some])
            if found:
                rankings.update(zip(some, found, strict=True))
            else:
                waiting += [some[: len(some) // 2], some[len(some) // 2 :]]
        return [rankings[i] for i in range(len(requests))]

    def _group(self, requests: list[RowRequest]) -> list[RowRanking] | None:
        """Search for requests, largest `end` first; None if together they take too much memory."""
        torch = self._torch
        ends, ks = np.array([(each.end, each.k) for each in requests]).T.copy()
        ranks, held, low, parts = int(ks.max()), 0, 0, []
        most = _HELD if len(requests) > 1 else np.inf
        block = _BLOCK if ends[0] >= 4 * _BLOCK * ranks else 1
        owners = np.repeat(np.arange(len(requests)), [len(each.excluded) for each in requests])
        excluded = np.concatenate([each.excluded for each in requests])
        queries = np.stack([each.query for each in requests]) * np.float16(_SCALE)
        queries, late_from, places, owners, excluded = (
            torch.from_numpy(each).to(self._device)
            for each in (queries, ends[:, None], ks[:, None] - 1, owners, excluded)
        )
        if len(requests) * ranks > most:
            return None
        # Below any score, and above that of rows out of scope, which is minus infinity.
        best = queries.new_full((len(requests), ranks), -3e38, dtype=torch.float32)
        # Three roundings of numbers below 1.2 follow.
        margin = (2 * self._error + 2.0**-22) * _SCALE**2
        while low < ends[0] and held <= most:
            active = int(np.count_nonzero(ends > low))
            blocks = min(_ROWS, _CELLS.get(self._device.type, 2**22) // active) // block
            high = low + min(max(blocks, 1), -(-(int(ends[0]) - low) // block)) * block
            scores = self._product(queries[:active], self._rows(low, high))
            if (whole := int(np.count_nonzero(ends >= high))) < active:
                late = torch.arange(low, high, device=self._device) >= late_from[whole:active]
                scores[whole:].masked_fill_(late, -torch.inf)
            here = (excluded >= low) & (excluded < high)
            scores[owners[here], excluded[here] - low] = -torch.inf
            scores = scores.view(active, -1, block)
            peaks = scores.amax(2)
            best[:active] = torch.cat([best[:active], peaks], 1).topk(ranks).values
            floor = best[:active].gather(1, places[:active]) - margin
            query, number = (peaks >= floor).nonzero(as_tuple=True)
            some = scores[query, number]
            which, column = (some >= floor[query]).nonzero(as_tuple=True)
            row = low + number[which] * block + column
            parts.append((query[which], row, some[which, column]))
            held, low = held + len(row), high
        return self._chosen(requests, parts) if held <= most else None

    def _product(self, queries: Any, rows: Any) -> Any:
        """Return float32 scores times the square of `_SCALE`, shape (queries, rows)."""
        if self._is_cuda:
            return self._torch.mm(queries, rows.T, out_dtype=self._torch.float32)
        return queries.float() @ rows.float().T

    def _rows(self, low: int, high: int) -> Any:
        """Return rows on the device, scaled; zeros after the last one."""
        kept = self._kept[low:high]
        if len(kept) == high - low:
            return kept
        shape, half = (high - low - len(kept), kept.shape[1]), self._torch.float16
        staged = self._torch.zeros(shape, dtype=half, pin_memory=self._is_cuda)
        some = self._vectors[low + len(kept) : high]
        staged.numpy()[: len(some)] = some
        copied = staged.to(self._device, non_blocking=True).mul_(_SCALE)
        return self._torch.cat([kept, copied]) if len(kept) else copied

    def _chosen(self, requests: list[RowRequest], parts: list[Any]) -> list[RowRanking]:
        """Return the best of all candidates of each request, scored exactly by the host."""
        owner, row, score = map(self._torch.cat, zip(*parts, strict=True))
        owner, order = owner.sort(stable=True)
        counts = self._torch.bincount(owner, minlength=len(requests)).cpu().numpy()
        starts, rows = np.concatenate([[0], np.cumsum(counts)]), row[order].cpu().numpy()
        scores = score[order].cpu().numpy().astype(np.float64) / _SCALE**2
        bounds = rows, scores - self._error, scores + self._error

        def choose(low: int) -> list[RowRanking]:
            these = starts[low : low + _PIECE + 1]
            return self._flat.choose(requests[low : low + _PIECE], these, *bounds)

        with ThreadPoolExecutor(min(16, cores())) as pool:
            found = pool.map(choose, range(0, len(requests), _PIECE))
            return [one for some in found for one in some]
