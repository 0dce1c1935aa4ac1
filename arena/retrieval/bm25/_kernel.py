"""The inner loops of BM25, compiled by numba; they release the interpreter lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Accumulators:
    """Score arrays to work in, one for each search that runs at the same time.

    Between searches they are all zero; a search writes and clears only the part it needs.
    """

    def __init__(self, documents: int) -> None:
        self._documents = documents
        self._free: list[NDArray[np.float64]] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self) -> Iterator[NDArray[np.float64]]:
        """Lend an array of zeros; one that an error left dirty is not taken back."""
        with self._lock:
            array = self._free.pop() if self._free else None
        if array is None:
            array = np.zeros(self._documents)
        yield array
        with self._lock:
            self._free.append(array)


@njit(cache=True, nogil=True)
def search(  # type: ignore[no-untyped-def]
    terms, weights, starts, docs, tfs, lengths, k1, b, average, end, excluded, k, accumulator
) -> Any:
    """Return the k best (documents, scores) in no particular order.

    Postings are read while their document lies before `end`: the lists are in document order, so
    the rest of a list is the future and is not even looked at.
    """
    for i in range(len(terms)):
        weight = weights[i]
        for p in range(starts[terms[i]], starts[terms[i] + 1]):
            document = docs[p]
            if document >= end:
                break
            tf = np.float64(tfs[p])
            norm = k1 * (1.0 - b + b * lengths[document] / average)
            accumulator[document] += weight * tf / (tf + norm)
    for i in range(len(excluded)):
        accumulator[excluded[i]] = 0.0

    # A heap of the k best, the worst on top. Documents come in ascending order, so an equal
    # score never displaces an earlier document.
    heap_scores = np.empty(k, np.float64)
    heap_documents = np.empty(k, np.int64)
    size = 0
    for document in range(end):
        score = accumulator[document]
        if score == 0.0:
            continue
        accumulator[document] = 0.0
        if size < k:
            place = size
            size += 1
            while place > 0:
                parent = (place - 1) // 2
                if heap_scores[parent] < score:
                    break
                heap_scores[place] = heap_scores[parent]
                heap_documents[place] = heap_documents[parent]
                place = parent
        elif score > heap_scores[0]:
            place = 0
            while True:
                child = 2 * place + 1
                if child >= k:
                    break
                right = child + 1
                if right < k and (
                    heap_scores[right] < heap_scores[child]
                    or (
                        heap_scores[right] == heap_scores[child]
                        and heap_documents[right] > heap_documents[child]
                    )
                ):
                    child = right
                if heap_scores[child] >= score:
                    break
                heap_scores[place] = heap_scores[child]
                heap_documents[place] = heap_documents[child]
                place = child
        else:
            continue
        heap_scores[place] = score
        heap_documents[place] = document
    return heap_documents[:size].copy(), heap_scores[:size].copy()
