"""The inner loops of BM25, compiled by numba; they release the interpreter lock.

Documents are scored block by block, so that the sums stay in the processor's cache. A posting costs
three reads and one addition: its code leads to its value, computed once for each average length.
Then the block is read in stripes, of which only those with a document above the k-th best so far
are examined.

Skipping the lists of weak terms (MaxScore, Turtle and Flood 1995) is slower for k = 100 on a
million synthetic abstracts and queries of eight terms, because the remaining documents have to be
looked up one by one: docs/results/engines.md counts them.

No content of a file can make them read or write outside of an array: what would is refused with a
ValueError where it is read once a term, and wrapped or clipped where it is read once a posting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.kit.kernels import descending, kernel, kth_largest

BLOCK = 32768  # 256 kB of sums: half of a second-level cache; a power of two, to be a mask
_STRIPE = 64  # documents that are skipped together; divides a block
_FEW = 128  # up to so many hits are kept in order as they come
_SAMPLE = 8  # documents for each hit that is wanted, for a first bound
_BLANK = 32
_SPARSE = 128  # with less than one posting in so many documents, only stripes with one are visited


@kernel
def place_of(docs, low, high, document) -> Any:  # type: ignore[no-untyped-def]
    """Return the first place in `low`..`high` whose document is at least `document`, often near."""
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


@kernel
def _keep_best(documents, scores, count, k) -> Any:  # type: ignore[no-untyped-def]
    """Move the `k` best of `count` >= `k` candidates to the front; return the worst score of them.

    The candidates are in document order and stay so; of equal scores the earlier ones are kept.
    """
    threshold = kth_largest(scores, count, k)
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


@kernel
def _insert(documents, scores, size, k, document, score) -> Any:  # type: ignore[no-untyped-def]
    """Put a candidate better than the last of `k` into the `size` <= `k` best; return the size."""
    place = min(size, k - 1)
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        documents[place] = documents[place - 1]
        place -= 1
    scores[place] = score
    documents[place] = document
    return min(size + 1, k)


@kernel
def _bound(weights, begins, ends, docs, sums, offset, k) -> Any:  # type: ignore[no-untyped-def]
    """Return a score that the `k` best documents of a block surpass; 0 if none is known.

    That is just less than the `k`-th best of some documents: the first that have the rarest of the
    terms in `k` documents or more. With it few stripes have to be looked into.
    """
    best = np.int64(-1)
    for i in range(len(weights)):
        if ends[i] - begins[i] >= k and (best < 0 or weights[i] > weights[best]):
            best = np.int64(i)
    if best < 0:
        return 0.0
    size, documents, scores = np.int64(0), np.empty(k, np.int64), np.empty(k)
    mask = np.uint64(len(sums) - 1)
    for j in range(begins[best], min(ends[best], begins[best] + _SAMPLE * k)):
        score = sums[(np.uint64(docs[j]) - offset) & mask]
        if size < k or score > scores[k - 1]:
            size = _insert(documents, scores, size, k, 0, score)
    if scores[k - 1] == 0.0:  # an excluded document
        return 0.0
    return np.int64(np.float64(scores[k - 1]).view(np.int64) - 1).view(np.float64)


@kernel
def _search(  # type: ignore[no-untyped-def]
    terms, weights, values, first_document, end, excluded, k, starts, docs, codes, sums, marks,
    found, scores,
) -> Any:  # fmt: skip
    """Write the best documents of one search and their scores, best first; return their number.

    Postings are read from `first_document` while their document lies before `end`: the rest of a
    list is the future and is not even looked at. `values` is the search's row of the tables.
    `marks` has a False for each stripe, again on return; `found` and `scores` have `k` elements to
    write to. The others are as in `search`.
    """
    count = len(terms)
    mask, last = np.uint64(len(sums) - 1), np.uint64(len(values) - 1)
    cursors = np.empty(count, np.int64)
    begins = np.empty(count, np.int64)
    ends = np.empty(count, np.int64)
    for i in range(count):
        low, high = starts[terms[i]], starts[terms[i] + 1]
        cursors[i] = place_of(docs, low, high, first_document) if first_document else low
    bits = sums.view(np.int64)  # floats >= 0 are ordered as their bits are, which compares faster
    few = k <= _FEW
    if not few:
        result, result_scores = found, scores
        found, scores = np.empty(4 * k + 4 * _STRIPE, np.int64), np.empty(4 * k + 4 * _STRIPE)
    size, threshold = np.int64(0), 0.0
    next_excluded = 0
    for low in range(first_document, end, len(sums)):
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
                    marks[((np.uint64(docs[j]) - offset) & mask) // np.uint64(_STRIPE)] = True
            for j in range(cursors[i], ends[i]):
                posting = np.uint64(j)
                code = min(np.uint64(codes[posting]), last)
                sums[(np.uint64(docs[posting]) - offset) & mask] += weight * values[code]
            begins[i], cursors[i] = cursors[i], ends[i]
        while next_excluded < len(excluded) and excluded[next_excluded] < high:
            sums[excluded[next_excluded] - low] = 0.0
            next_excluded += 1

        if few and threshold == 0.0:
            threshold = _bound(weights, begins, ends, docs, sums, offset, k)

        for first in range(0, high - low, _STRIPE):
            if sparse:
                if not marks[first // _STRIPE]:
                    continue
                marks[first // _STRIPE] = False
            start = np.uint64(first)
            # Most stripes have no document above the threshold, and are passed over at once.
            threshold_bits = np.float64(threshold).view(np.int64)
            hits = np.int64(0)
            for j in range(_STRIPE):  # beyond `high` the sums are zero
                hits += np.int64(bits[start + np.uint64(j)] > threshold_bits)
            if hits > 0 and few:
                for j in range(_STRIPE):
                    score = sums[start + np.uint64(j)]
                    if score > threshold:
                        size = _insert(found, scores, size, k, low + first + j, score)
                        if size == k:
                            threshold = scores[k - 1]
            elif hits > 0:
                if size + _STRIPE > len(found):
                    threshold = _keep_best(found, scores, size, k)
                    size = np.int64(k)
                for j in range(_STRIPE):
                    place = np.uint64(size)
                    score = sums[start + np.uint64(j)]
                    found[place] = low + first + j
                    scores[place] = score
                    size += np.int64(score > threshold)
            for j in range(_STRIPE):
                sums[start + np.uint64(j)] = 0.0
        if not few and size > 2 * k:  # now rather than when the buffer is full
            threshold = _keep_best(found, scores, size, k)
            size = np.int64(k)
    if not few:
        if size > k:
            _keep_best(found, scores, size, k)
            size = np.int64(k)
        order = descending(scores, size)  # ties stay in document order
        for i in range(size):  # numba takes seconds to compile an assignment of arrays
            result[i], result_scores[i] = found[order[i]], scores[order[i]]
    return size


@kernel
def search(  # type: ignore[no-untyped-def]
    terms, weights, begins, tables, rows, firsts, ends, excluded, excluded_bounds, bounds, starts,
    docs, codes, sums,
) -> Any:  # fmt: skip
    """Return the best documents and scores of many searches, and the number of hits of each.

    The `terms` of all searches, with their `weights` > 0, are distinct and in the order in which
    each sums; those of search i begin at begins[i], its ascending `excluded` at excluded_bounds[i]
    and its results, no more than fit, at bounds[i]. A row of `tables` has the value > 0 of a
    posting by its code for one average length; rows[i] is the row of search i, whose hits lie in
    firsts[i]..ends[i]. The postings of a term begin at its place in `starts`: ascending `docs` and
    their `codes`. `sums` are `BLOCK` zeros, again on return. Numbers are int64, weights and values
    float64.
    """
    found, scores = np.empty(bounds[-1], np.int64), np.empty(bounds[-1])
    sizes = np.zeros(len(ends), np.int64)
    marks = np.zeros(len(sums) // _STRIPE, np.bool_)
    for i in range(len(ends)):
        low, high = bounds[i], bounds[i + 1]
        if low < high:
            sizes[i] = _search(
                terms[begins[i] : begins[i + 1]], weights[begins[i] : begins[i + 1]],
                tables[rows[i]], firsts[i], ends[i],
                excluded[excluded_bounds[i] : excluded_bounds[i + 1]], high - low,
                starts, docs, codes, sums, marks, found[low:high], scores[low:high],
            )  # fmt: skip
    return found, scores, sizes


@kernel
def find(strings, offsets, words, count) -> Any:  # type: ignore[no-untyped-def]
    """Return the number of each of `count` words among ascending strings, -1 if it is not there.

    The bytes of string i begin at offsets[i]; a blank stands between two words. Each step of the
    bisections is taken for all words at once, so that they wait for memory together.
    """
    numbers, begins = np.full(count, -1), np.zeros(count + 1, np.int64)
    lows, highs = np.zeros(count, np.int64), np.full(count, len(offsets) - 1)
    firsts, heads = np.empty(count, np.int64), np.empty(count, np.uint8)
    for i in range(count):
        end = begins[i]
        while end < len(words) and words[end] != _BLANK:
            end += 1
        begins[i + 1] = end + 1
    left = count if len(strings) else 0
    while left > 0:
        for i in range(count):
            firsts[i] = offsets[(lows[i] + highs[i]) >> 1]
        for i in range(count):
            heads[i] = strings[max(0, min(firsts[i], len(strings) - 1))]
        left = 0
        for i in range(count):
            if lows[i] == highs[i]:
                continue
            middle, place, end = (lows[i] + highs[i]) >> 1, begins[i], begins[i + 1] - 1
            first, last = firsts[i], offsets[middle + 1]
            if not 0 <= first <= last <= len(strings):
                raise ValueError("its terms are not in order")
            if heads[i] == words[place]:
                while first < last and place < end and strings[first] == words[place]:
                    first += 1
                    place += 1
            if place == end and first == last:
                numbers[i], lows[i], highs[i] = middle, middle, middle
            elif first == last or (place < end and strings[first] < words[place]):
                lows[i] = middle + 1
            else:
                highs[i] = middle
            left += np.int64(lows[i] < highs[i])
    return numbers


@kernel
def count(  # type: ignore[no-untyped-def]
    numbers, bounds, horizons, documents, hidden, hidden_bounds, starts, docs
) -> Any:
    """Return what the weights of the terms of many queries are made of.

    The `numbers` of the terms of query i, ascending, repeats kept and -1 for an unknown one, begin
    at bounds[i].
    Documents below horizons[i] count for the statistics, documents[i] of them: all but the
    ascending `hidden`, which begin at hidden_bounds[i]. `starts` and `docs` are as in `search`. All
    are int64.

    Returns:
        The distinct terms that occur, where those of each query begin (n + 1), how often the
        query has each (float64), 1 + (N - df + 0.5) / (df + 0.5) of each, and at most how many
        documents match each query (n,).
    """
    terms = np.empty(len(numbers), np.int64)
    frequencies, odds = np.empty(len(numbers)), np.empty(len(numbers))
    begins, matches = np.zeros(len(bounds), np.int64), np.zeros(len(horizons), np.int64)
    size = np.int64(0)
    for i in range(len(horizons)):
        j = bounds[i]
        while j < bounds[i + 1]:
            term, first = numbers[j], j
            while j < bounds[i + 1] and numbers[j] == term:
                j += 1
            if term < 0:
                continue
            if not 0 <= starts[term] <= starts[term + 1] <= len(docs):
                raise ValueError("the lists of its terms are not in order")
            low = starts[term]
            high = place_of(docs, low, starts[term + 1], horizons[i])
            df = high - low
            for h in range(hidden_bounds[i], hidden_bounds[i + 1]):
                place = place_of(docs, low, high, hidden[h])
                df -= np.int64(place < high and docs[place] == hidden[h])
            if df > 0:
                terms[size], frequencies[size] = term, j - first
                odds[size] = 1 + (documents[i] - df + 0.5) / (df + 0.5)
                matches[i] += df
                size += 1
        begins[i + 1] = size
    return terms[:size], begins, frequencies[:size], odds[:size], matches
