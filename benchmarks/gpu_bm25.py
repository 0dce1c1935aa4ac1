"""BM25 on a GPU, a prototype: what the engine's kernel finds, to the bit; gpu_dense.py times it.

A score is added up on the device as an integer: each addend is scaled by a power of two and rounded
up, so the order of the additions does not show, and the sum of T addends is above the score by less
than T, and half of one for the roundings of the kernel. If k documents of a scope reach the sum F,
the best k have sums of at least F - T - 1. All that have are scored by the kernel.
"""

import importlib
from typing import Any

import numpy as np
import torch
from numba import njit

kernel: Any = importlib.import_module("arena.retrieval.bm25._kernel")
_place_of = kernel.place_of
_BLOCK = 64  # documents of which the best is compared first
_CELLS = 2**29  # sums that are in memory at once; 2 GB


@njit(nogil=True)
def cut(terms, begins, ends, starts, docs):
    """Return where the list of each term begins, and where it leaves the scope; shape (2, n)."""
    parts = np.empty((2, len(terms)), np.int64)
    for i in range(len(ends)):
        for j in range(begins[i], begins[i + 1]):
            parts[0, j] = starts[terms[j]]
            parts[1, j] = _place_of(docs, parts[0, j], starts[terms[j] + 1], ends[i])
    return parts


@njit(nogil=True)
def gather(parts, begins, found, bounds, docs, codes):
    """Return the lists of the documents `found`, numbered from 0; those of query i at bounds[i]."""
    starts = np.zeros(parts.shape[1] + 1, np.int64)
    places = np.empty(np.sum(np.diff(begins) * np.diff(bounds)), np.uint32)
    their_codes, size = np.empty(len(places), codes.dtype), 0
    for i in range(len(bounds) - 1):
        for j in range(begins[i], begins[i + 1]):
            low, high = parts[0, j], parts[1, j]
            for n in range(bounds[i], bounds[i + 1]):
                low = _place_of(docs, low, high, found[n])
                if low < high and docs[low] == found[n]:
                    places[size], their_codes[size] = n - bounds[i], codes[low]
                    size += 1
            starts[j + 1] = size
    return starts, places[:size], their_codes[:size]


class DeviceLists:
    """The posting lists of an index on a device; `search` takes the place of the kernel's."""

    def __init__(self, docs: Any, codes: Any, device: str) -> None:
        self.docs, self.codes = (
            torch.from_numpy(each.astype(np.int32)).to(device) for each in (docs, codes)
        )

    def search(
        self, terms, weights, begins, tables, rows, firsts, ends, excluded, excluded_bounds, bounds,
        starts, docs, codes, sums,
    ) -> Any:  # fmt: skip
        """Return what the kernel returns, which documents it; `firsts` are zeros."""
        found, scores = np.empty(bounds[-1], np.int64), np.empty(bounds[-1])
        sizes, low = np.zeros(len(ends), np.int64), 0
        while low < len(ends):
            most = np.maximum.accumulate(ends[low:]) + _BLOCK
            high = low + max(1, int(np.sum(most * np.arange(1, len(most) + 1) <= _CELLS)))
            some, its = slice(low, high), slice(begins[low], begins[high])
            begin, bound = begins[low : high + 1] - its.start, bounds[low : high + 1]
            parts = cut(terms[its], begin, ends[some], starts, docs)
            hidden = excluded_bounds[low : high + 1]
            values = torch.from_numpy(tables[rows[some]]).to(self.docs.device)
            best, counts = self._candidates(
                parts, weights[its], begin, values, int(most[high - low - 1]),
                excluded[hidden[0] : hidden[-1]], np.diff(hidden), np.diff(bound),
            )  # fmt: skip
            at = np.concatenate([[0], np.cumsum(counts)])
            lists, none = gather(parts, begin, best, at, docs, codes), np.zeros_like(counts)
            numbers, those, sizes[some] = kernel.search(
                np.arange(parts.shape[1]), weights[its], begin, tables, rows[some], none, counts,
                excluded[:0], np.zeros_like(at), bound - bound[0], *lists, sums,
            )  # fmt: skip
            for i, size in enumerate(sizes[some]):
                mine = slice(bound[i] - bound[0], bound[i] - bound[0] + size)
                found[bound[i] : bound[i] + size] = best[at[i] + numbers[mine]]
                scores[bound[i] : bound[i] + size] = those[mine]
            low = high
        return found, scores, sizes

    def _candidates(self, parts, weights, begins, values, width, excluded, hidden, ks) -> Any:
        """Return the documents that may be among the best, by query, and how many each has."""
        count, width = len(ks), -(-width // _BLOCK) * _BLOCK
        owner = np.repeat(np.arange(count), np.diff(begins))
        total = np.bincount(owner, weights, count) + 1e-6  # no score is larger
        scale = 2.0 ** np.floor(np.log2(2.0**29 / total))
        lengths = parts[1] - parts[0]
        shift = parts[0] - np.cumsum(lengths) + lengths
        out = np.repeat(np.arange(count), hidden) * width + excluded
        lengths, shift, out, owner, weights, ks, slack = (
            torch.from_numpy(each).to(self.docs.device)
            for each in (lengths, shift, out, owner, weights * scale[owner], ks, np.diff(begins))
        )
        which = torch.arange(len(lengths), device=out.device).repeat_interleave(lengths)
        place = torch.arange(len(which), device=out.device) + shift[which]
        addends = (weights[which] * values[owner[which], self.codes[place]]).ceil().int()
        sums = torch.zeros(count * width, dtype=torch.int32, device=out.device)
        sums.index_add_(0, owner[which] * width + self.docs[place], addends)
        sums[out] = 0
        most = max(1, int(ks.max()))
        block = _BLOCK if width >= _BLOCK * most else 1
        sums = sums.view(count, -1, block)
        peaks = sums.amax(2)
        reached = peaks.topk(most).values.gather(1, ks[:, None].clamp(min=1) - 1)
        floor = (reached - slack[:, None] - 1).clamp(min=1)
        query, number = (peaks >= floor).nonzero(as_tuple=True)
        some = sums[query, number]
        where, column = (some >= floor[query]).nonzero(as_tuple=True)
        counts = torch.bincount(query[where], minlength=count)
        return (number[where] * block + column).cpu().numpy(), counts.cpu().numpy()
