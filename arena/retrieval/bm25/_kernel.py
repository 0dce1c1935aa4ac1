"""The inner loops of BM25, compiled by numba; they release the interpreter lock.

Documents are scored block by block, so that the sums stay in the processor's cache. A posting costs
three reads and one addition: its code leads to its value, computed once for each average length.
Then the block is passed over in stripes, of which only those with a document above the k-th best
so far are looked into.

Skipping the lists of weak terms (MaxScore, Turtle and Flood 1995) was tried on a million made-up
abstracts and queries of eight terms. It is slower, 0.65 to 0.82 ms a query against 0.61, because
the documents it leaves over have to be looked up one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 65536  # 512 kB of sums: a second-level cache
_STRIPE = 64  # documents that are passed over together; divides a block
_SPARSE = 128  # with less than one posting in so many documents, only stripes with one are visited


class Accumulators:
    """Score arrays to work in, one for each search that runs at the same time.

    Between searches they are all zero.
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.float64]] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self) -> Iterator[NDArray[np.float64]]:
        """Lend an array of zeros; one that an error left dirty is not taken back."""
        with self._lock:
            array = self._free.pop() if self._free else None
        if array is None:
            array = np.zeros(BLOCK)
        yield array
        with self._lock:
            self._free.append(array)


@njit(cache=True, nogil=True)
def find_terms(wanted, wanted_starts, terms, term_starts) -> Any:  # type: ignore[no-untyped-def]
    """Return the number of each wanted term in a table sorted by bytes, -1 if it is not there.

    Args:
        wanted: uint8, the wanted terms one after another.
        wanted_starts: int64 (n + 1), where each begins.
        terms: the table, in the same form.
        term_starts: where each of its terms begins.
    """
    numbers = np.empty(len(wanted_starts) - 1, np.int64)
    for i in range(len(numbers)):
        start, size = wanted_starts[i], wanted_starts[i + 1] - wanted_starts[i]
        low, high = 0, len(term_starts) - 1
        numbers[i] = -1
        while low < high:
            middle = (low + high) >> 1
            other, other_size = term_starts[middle], term_starts[middle + 1] - term_starts[middle]
            order = np.int64(0)
            for j in range(min(size, other_size)):
                order = np.int64(terms[other + j]) - np.int64(wanted[start + j])
                if order != 0:
                    break
            if order == 0:
                order = other_size - size
            if order == 0:
                numbers[i] = middle
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
    return numbers


@njit(cache=True, nogil=True)
def place_of(docs, low, high, document) -> Any:  # type: ignore[no-untyped-def]
    """Return the first place in `low`..`high` whose document is not below `document`.

    Looks near `low` first, since the next document is mostly not far away.
    """
    step = np.int64(8)
    while low + step < high and docs[low + step] < document:
        low += step
        step *= 2
    high = min(low + step, high)
    while low < high:
        middle = (low + high) >> 1
        if docs[middle] < document:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def document_frequencies(terms, starts, docs, end, excluded) -> Any:  # type: ignore[no-untyped-def]
    """Return how many documents below `end` that are not excluded hold each term."""
    counts = np.empty(len(terms), np.int64)
    for i in range(len(terms)):
        low, high = starts[terms[i]], starts[terms[i] + 1]
        before = low + np.searchsorted(docs[low:high], np.uint32(end))
        counts[i] = before - low
        for j in range(len(excluded)):
            place = place_of(docs, low, before, excluded[j])
            if place < before and docs[place] == excluded[j]:
                counts[i] -= 1
    return counts


@njit(cache=True, nogil=True)
def _keep_best(documents, scores, count, k) -> Any:  # type: ignore[no-untyped-def]
    """Move the `k` best of `count` >= `k` candidates to the front; return the worst score of them.

    The candidates are in document order and stay so; of equal scores the earlier ones are kept.
    """
    threshold = np.partition(scores[:count], count - k)[count - k]
    equal = np.int64(k)
    for i in range(count):
        equal -= np.int64(scores[i] > threshold)
    kept = np.int64(0)
    for i in range(count):
        score = scores[i]
        ties = score == threshold
        # Written without a branch: which candidates stay cannot be predicted.
        scores[kept] = score
        documents[kept] = documents[i]
        kept += np.int64((score > threshold) | (ties & (equal > 0)))
        equal -= np.int64(ties)
    return threshold


@njit(cache=True, nogil=True)
def search(  # type: ignore[no-untyped-def]
    terms, weights, starts, docs, codes, values, end, excluded, k, sums
) -> Any:
    """Return the `k` best (documents, scores), best first.

    Postings are read while their document lies before `end`: the lists are in document order, so
    the rest of a list is the future and is not even looked at.

    Args:
        terms: int64 (t,), distinct term numbers, in the order in which a score is summed.
        weights: float64 (t,), > 0: what a posting's value counts.
        starts: where the postings of each term begin.
        docs: their documents, ascending within a term.
        codes: their codes.
        values: float64, > 0: the value of a posting by its code.
        end: of the scope.
        excluded: int64, the documents below `end` that do not exist, ascending.
        k: from 1 to `end`.
        sums: zeros, of `BLOCK` elements; zeros again on return.
    """
    count = len(terms)
    cursors = np.empty(count, np.int64)
    ends = np.empty(count, np.int64)
    for i in range(count):
        cursors[i] = starts[terms[i]]
    bits = sums.view(np.int64)  # floats >= 0 are ordered as their bits are, which compares faster
    marks = np.zeros(len(sums) // _STRIPE, np.bool_)
    capacity = 4 * k + 4 * _STRIPE
    found, scores = np.empty(capacity, np.int64), np.empty(capacity)
    size, threshold = np.int64(0), 0.0
    next_excluded = 0
    for low in range(0, end, len(sums)):
        high = min(low + len(sums), end)
        offset = np.uint64(low)
        postings = np.int64(0)
        for i in range(count):
            ends[i] = place_of(docs, cursors[i], starts[terms[i] + 1], high)
            postings += ends[i] - cursors[i]
        sparse = postings * _SPARSE < high - low
        for i in range(count):
            weight = weights[i]
            if sparse:
                for j in range(cursors[i], ends[i]):
                    marks[np.uint64(docs[j] - offset) // np.uint64(_STRIPE)] = True
            for j in range(cursors[i], ends[i]):
                posting = np.uint64(j)
                sums[np.uint64(docs[posting]) - offset] += weight * values[codes[posting]]
            cursors[i] = ends[i]
        while next_excluded < len(excluded) and excluded[next_excluded] < high:
            sums[excluded[next_excluded] - low] = 0.0
            next_excluded += 1

        for first in range(0, high - low, _STRIPE):
            if sparse:
                if not marks[first // _STRIPE]:
                    continue
                marks[first // _STRIPE] = False
            start = np.uint64(first)
            # Most stripes hold no document above the threshold, and are passed over at once.
            threshold_bits = np.float64(threshold).view(np.int64)
            hits = np.int64(0)
            for j in range(_STRIPE):  # beyond `high` the sums are zero
                hits += np.int64(bits[start + np.uint64(j)] > threshold_bits)
            if hits > 0:
                if size + _STRIPE > capacity:
                    threshold = _keep_best(found, scores, size, k)
                    size = k
                for j in range(_STRIPE):
                    place = np.uint64(size)
                    score = sums[start + np.uint64(j)]
                    found[place] = low + first + j
                    scores[place] = score
                    size += np.int64(score > threshold)
            for j in range(_STRIPE):
                sums[start + np.uint64(j)] = 0.0
        if size > 2 * k:  # now rather than when the buffer is full: fewer stripes to look into
            threshold = _keep_best(found, scores, size, k)
            size = np.int64(k)
    if size > k:
        _keep_best(found, scores, size, k)
        size = np.int64(k)
    order = np.argsort(-scores[:size], kind="mergesort")  # stable: ties stay in document order
    return found[:size][order], scores[:size][order]
