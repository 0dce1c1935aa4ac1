"""What a search needs to know of its terms and its scope before it scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


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
def count(  # type: ignore[no-untyped-def]
    numbers, bounds, horizons, documents, hidden, hidden_bounds, starts, docs
) -> Any:
    """Return what the weights of the terms of many queries are made of.

    Args:
        numbers: int64, the term numbers of all queries, repeats kept, -1 for an unknown term; they
            are sorted within a query, so that a score does not depend on the order of its words.
        bounds: int64 (n + 1), where each query begins.
        horizons: int64 (n,): documents below count for the statistics,
        documents: int64 (n,): and are so many,
        hidden: int64, without these, ascending within a query,
        hidden_bounds: int64 (n + 1), of which each query has its own.
        starts: where the postings of each term begin.
        docs: their documents, ascending within a term.

    Returns:
        The distinct terms that occur, where those of each query begin (n + 1), how often the
        query holds each (float64), 1 + (N - df + 0.5) / (df + 0.5) of each, and at most how many
        documents match each query (n,).
    """
    terms = np.empty(len(numbers), np.int64)
    frequencies, odds = np.empty(len(numbers)), np.empty(len(numbers))
    begins, matches = np.zeros(len(bounds), np.int64), np.zeros(len(horizons), np.int64)
    size = np.int64(0)
    for i in range(len(horizons)):
        numbers[bounds[i] : bounds[i + 1]].sort()
        j = bounds[i]
        while j < bounds[i + 1]:
            term, first = numbers[j], j
            while j < bounds[i + 1] and numbers[j] == term:
                j += 1
            if term < 0:
                continue
            postings = docs[starts[term] : starts[term + 1]]
            before = np.searchsorted(postings, np.uint32(horizons[i]))
            df = np.int64(before)
            for h in range(hidden_bounds[i], hidden_bounds[i + 1]):
                place = np.searchsorted(postings[:before], np.uint32(hidden[h]))
                df -= np.int64(place < before and postings[place] == hidden[h])
            if df > 0:
                terms[size], frequencies[size] = term, j - first
                odds[size] = 1 + (documents[i] - df + 0.5) / (df + 0.5)
                matches[i] += df
                size += 1
        begins[i + 1] = size
    return terms[:size], begins, frequencies[:size], odds[:size], matches
