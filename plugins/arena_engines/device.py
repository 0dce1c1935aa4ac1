"""Exact search over a prefix of the rows on a GPU, or on any device that torch knows.

Rows are scored roughly there, from float16 numbers; those that may be among the best are scored
exactly on the CPU, by the code of `dense`. How rough a score can be is proven for any order of its
additions, fused, in blocks as in tensor cores, and rounded or truncated:

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

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import WorkerError
from arena.kit.lazy import load
from arena.kit.process import cores, one_thread

if TYPE_CHECKING:
    from arena.retrieval.dense import FlatSearch, RowRanking, RowRequest

__all__ = ["DeviceSearch", "error_bound"]

_SCALE = 2.0**15
_LOWEST = -3e38  # below any score, and above minus infinity, the score of a row out of scope
_TOGETHER = 2048  # queries that share a tile
_ROWS = 2**19  # of a tile at most
_RANKS = 2**14  # of a query with a larger k all rows of a tile are candidates
_PIECE = 16  # queries that are worth a thread of the host


def error_bound(dimension: int) -> float:
    """Return how far a rough score can be from the exact one; see the top of this module."""
    return 3.1 * dimension * 2.0**-23


class DeviceSearch:
    """Exact search on a device; the results are those of `FlatSearch`, to the bit.

    One thread at a time uses the device, and any number may ask.
    """

    def __init__(
        self,
        flat: FlatSearch,
        vectors: NDArray[np.float16],
        device: str,
        memory: float | None = None,
        threads: int | None = None,
        cells: int | None = None,
        held: int = 2**24,
        block: int = 64,
    ) -> None:
        """Copy vectors to the device, as many as are to stay there.

        Args:
            flat: Search on the CPU over the same vectors.
            vectors: float16 of shape (rows, dimension), of length 1 or 0.
            device: What torch calls it, such as ``"cuda:1"`` or ``"cpu"``.
            memory: Bytes of vectors that stay on the device; by default three quarters of what is
                free on a GPU, and none on a CPU. Each batch copies the other rows anew.
            threads: Threads that score candidates; by default the processors, at most 16.
            cells: Scores of a tile, queries times rows.
            held: Candidates on the device from which on they are scored.
            block: Rows of which the device compares the best first. It changes no result, and
                neither do the five arguments before it.
        """
        torch = self._torch = load("torch", "the retriever gpu")
        self._flat, self._vectors, self._process = flat, vectors, os.getpid()
        self._device, self._is_cuda = torch.device(device), device.startswith("cuda")
        self._threads = threads or min(16, cores())
        self._cells = cells or (2**27 if self._is_cuda else 2**22)
        self._held, self._block, self._one = held, block, threading.Lock()
        self._error = error_bound(vectors.shape[1])
        # The comparison rounds three times, numbers below 1.2.
        self._margin = (2 * self._error + 2.0**-22) * _SCALE**2
        if memory is None:
            memory = 0.75 * torch.cuda.mem_get_info(self._device)[0] if self._is_cuda else 0
        rows, fit = len(vectors), int(memory) // (2 * vectors.shape[1])
        kept = (-(-rows // block) if fit >= rows else fit // block) * block
        self._kept = torch.empty((kept, vectors.shape[1]), dtype=torch.float16, device=self._device)
        for low in range(0, kept, _ROWS):
            high = min(low + _ROWS, kept)
            self._kept[low:high] = self._copied(low, high)

    def search(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the best rows of each request.

        Raises:
            WorkerError: in a forked process, which no GPU survives, or if the memory of the device
                does not suffice, or its arithmetic is not what the bound is proven for.
        """
        if self._is_cuda and self._process != os.getpid():
            raise WorkerError(
                f"this process was forked after the search began to use {self._device}, which that "
                "does not survive. Open the corpus after the fork."
            )
        # Longest prefixes first: while rows go up, the queries that still want them are the first.
        order = sorted(range(len(requests)), key=lambda i: -requests[i].end)
        rankings: dict[int, RowRanking] = {}
        try:
            for low in range(0, len(order), _TOGETHER):
                some = order[low : low + _TOGETHER]
                with self._one, one_thread(always=True):  # a pool would not survive a fork
                    found = self._group([requests[i] for i in some])
                rankings.update(zip(some, found, strict=True))
        except self._torch.OutOfMemoryError:
            raise WorkerError(
                f"the memory of {self._device} does not suffice. Give memory= fewer GB of vectors "
                "to keep there, or end what else uses it."
            ) from None
        return [rankings[i] for i in range(len(requests))]

    def _group(self, requests: list[RowRequest]) -> list[RowRanking]:
        """Search for requests with the largest `end` first."""
        torch, block = self._torch, self._block
        queries = self._sent(np.stack([each.query for each in requests])) * _SCALE
        ends, ks = np.array([(each.end, each.k) for each in requests], np.int64).T.copy()
        ranks = int(min(ks.max(), _RANKS))
        if ends[0] < 4 * block * ranks:
            block = 1
        hidden, owners = _excluded(requests)
        hidden_there, owners_there, ends_there = map(self._sent, (hidden, owners, ends))
        place = self._sent(np.minimum(ks, ranks)[:, None] - 1)
        beyond = self._sent(ks[:, None] > ranks)
        best = queries.new_full((len(requests), ranks), _LOWEST, dtype=torch.float32)
        reached = best[:, :1].clone()  # by k exact scores, if that is known
        parts: list[Any] = []  # query, row and rough score of candidates, on the device
        found, low, held = None, 0, 0
        while low < ends[0]:
            active = int(np.count_nonzero(ends > low))
            high = self._high(low, active, int(ends[0]), block)
            scores = self._product(queries[:active], self._rows(low, high))
            if (whole := int(np.count_nonzero(ends >= high))) < active:
                columns = torch.arange(low, high, device=self._device)
                late = columns >= ends_there[whole:active, None]
                scores[whole:].masked_fill_(late, -torch.inf)
            first, last = np.searchsorted(hidden, [low, high])
            scores[owners_there[first:last], hidden_there[first:last] - low] = -torch.inf
            blocks = scores.view(active, -1, block)
            peaks = blocks.amax(2)
            best[:active] = torch.cat([best[:active], peaks], 1).topk(ranks).values
            floor = best.gather(1, place).masked_fill_(beyond, _LOWEST)
            floor = torch.maximum(floor, reached) - self._margin
            query, number = (peaks >= floor[:active]).nonzero(as_tuple=True)
            some = blocks[query, number]
            which, column = (some >= floor[query]).nonzero(as_tuple=True)
            row = low + number[which] * block + column
            parts.append((query[which], row, some[which, column]))
            held, low = held + len(which), high
            if held > self._held or low >= ends[0]:
                found = self._chosen(requests, parts)
                if low < ends[0]:
                    parts, reached = [self._again(found)], self._reached(requests, found)
                    held = 0
        assert found is not None
        return found

    def _high(self, low: int, active: int, end: int, block: int) -> int:
        """Return where a tile from row `low` on ends: whole blocks, on one side of `_kept`."""
        size = max(min(_ROWS, self._cells // active) // block, 1) * block
        high = min(low + size, -(-end // block) * block)
        return min(high, len(self._kept)) if low < len(self._kept) else high

    def _product(self, queries: Any, rows: Any) -> Any:
        """Return float32 scores times the square of `_SCALE`, shape (queries, rows)."""
        if self._is_cuda:
            return self._torch.mm(queries, rows.T, out_dtype=self._torch.float32)
        return queries.float() @ rows.float().T

    def _rows(self, low: int, high: int) -> Any:
        return self._kept[low:high] if high <= len(self._kept) else self._copied(low, high)

    def _copied(self, low: int, high: int) -> Any:
        """Return rows from the host, scaled; zeros after the last one."""
        shape, half = (high - low, self._vectors.shape[1]), self._torch.float16
        staged = self._torch.zeros(shape, dtype=half, pin_memory=self._is_cuda)
        some = self._vectors[low:high]
        staged.numpy()[: len(some)] = some
        return staged.to(self._device, non_blocking=True).mul_(_SCALE)

    def _sent(self, array: NDArray[Any]) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    def _chosen(self, requests: list[RowRequest], parts: list[Any]) -> list[RowRanking]:
        """Return the best of all candidates of each request, scored exactly by the host."""
        owner, row, score = map(self._torch.cat, zip(*parts, strict=True))
        owner, order = owner.sort(stable=True)
        counts = self._torch.bincount(owner, minlength=len(requests)).cpu().numpy()
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows = row[order].cpu().numpy()
        scores = score[order].cpu().numpy().astype(np.float64) / _SCALE**2

        def choose(first: int, last: int) -> list[RowRanking]:
            these = starts[first : last + 1]
            return self._flat.choose(requests[first:last], these, rows, scores, self._error)

        pieces = min(self._threads, -(-len(requests) // _PIECE))
        cuts = [len(requests) * i // pieces for i in range(pieces + 1)]
        if pieces == 1:
            return choose(0, len(requests))
        with ThreadPoolExecutor(pieces) as pool:
            return [one for some in pool.map(choose, cuts, cuts[1:]) for one in some]

    def _again(self, found: list[RowRanking]) -> tuple[Any, Any, Any]:
        """Return what was chosen as candidates, before any of later rows; scores are rounded."""
        owners = np.repeat(np.arange(len(found)), [len(each.rows) for each in found])
        rows, scores = map(np.concatenate, zip(*found, strict=True))
        scores = (scores * _SCALE**2).astype(np.float32)
        return self._sent(owners), self._sent(rows), self._sent(scores)

    def _reached(self, requests: list[RowRequest], found: list[RowRanking]) -> Any:
        """Return E more than the exact scores that k rows reach: F, as if of rough ones."""
        floors = [
            (best.scores[-1] + self._error) * _SCALE**2 if len(best.rows) == each.k else _LOWEST
            for each, best in zip(requests, found, strict=True)
        ]
        return self._sent(np.array(floors, np.float32)[:, None])


def _excluded(requests: list[RowRequest]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all excluded rows, ascending, and the number of the request of each."""
    rows = np.concatenate([each.excluded for each in requests])
    owners = np.repeat(np.arange(len(requests)), [len(each.excluded) for each in requests])
    order = np.argsort(rows)
    return rows[order], owners[order]
