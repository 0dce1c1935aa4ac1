"""Write posting lists in bounded memory: a block of documents, then a range of terms at a time.

Terms are numbered as they come. When there are too many for memory they are put on disk in order,
which ends a run; the next run has its own numbers. Blocks keep the tokens of their documents on
disk; when the terms of all runs are merged, each block is sorted by (term, document), and the lists
are gathered from all blocks. From the merge on, a distinct term takes 16 bytes of memory. A posting
is a document and a code, which stands for a pair of term frequency and document length: all that a
score needs to know of it.
"""

from __future__ import annotations

import heapq
import itertools
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.kit.arrays import (
    ArrayWriter,
    StringTable,
    StringTableWriter,
    load_array,
    save_array,
)
from arena.text import TermMemo, tokenize

_BLOCK_TOKENS = 8_000_000
_RUN_TERMS = 2_000_000  # distinct terms in memory, 150 bytes each
_GATHERED = 8_000_000  # postings of a range of terms, unless one term has more


def build(
    texts: Iterable[tuple[int, str]],
    directory: Path,
    lengths: NDArray[np.uint32],
    progress: Callable[..., Any],
) -> dict[str, Any]:
    """Write the files of the lists; fill in `lengths`; return the counts for the manifest."""
    with tempfile.TemporaryDirectory(dir=directory, prefix="blocks-") as temporary:
        blocks = _PostingBlocks(Path(temporary))
        for document, text in texts:
            lengths[document] = blocks.add(document, text)
        starts, pairs = blocks.sort(*blocks.finish(directory / "terms"), lengths)
        order = np.argsort(pairs)
        code_type = np.min_scalar_type(max(len(pairs), 2**16) - 1)  # two bytes, or else four
        docs = ArrayWriter(directory / "docs.npy", np.uint32)
        codes = ArrayWriter(directory / "codes.npy", code_type)
        with docs, codes:
            for postings, frequencies in blocks.gather(starts, progress):
                documents = (postings & 0xFFFFFFFF).astype(np.uint32)
                wanted = _pairs(frequencies, lengths[documents])
                docs.append(documents)
                codes.append(order[np.searchsorted(pairs, wanted, sorter=order)])
    save_array(directory / "starts.npy", starts)
    save_array(directory / "pair_tfs.npy", pairs >> np.uint64(32), np.uint32)
    save_array(directory / "pair_lengths.npy", pairs & np.uint64(0xFFFFFFFF), np.uint32)
    save_array(directory / "lengths.npy", lengths)
    return {"terms": len(starts) - 1, "postings": int(starts[-1])}


def _pairs(tfs: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Return pairs of term frequency and document length as integers."""
    return tfs.astype(np.uint64) << np.uint64(32) | lengths.astype(np.uint64)


class _PostingBlocks:
    """The tokens of all documents, then their postings, ``term << 32 | document``, in files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs: list[int] = []  # of each block
        self._ended = 0  # runs on disk
        self._terms: dict[str, int] = {}  # of the run that has not ended
        self._numbers: dict[str, int] = {}
        self._memo = TermMemo()
        self._begin()

    def _begin(self) -> None:
        self._tokens, self._documents, self._sizes = array("I"), array("I"), array("I")
        self._numbers.clear()  # token -> number of its term, -1 for a stop word

    def add(self, document: int, text: str) -> int:
        """Add a document; return its length in terms."""
        before = len(self._tokens)
        for token in tokenize(text):
            number = self._numbers.get(token)
            if number is None:
                term = self._memo[token]
                number = self._terms.setdefault(term, len(self._terms)) if term else -1
                self._numbers[token] = number
            if number >= 0:
                self._tokens.append(number)
        size = len(self._tokens) - before
        self._documents.append(document)
        self._sizes.append(size)
        if len(self._tokens) >= _BLOCK_TOKENS or len(self._terms) >= _RUN_TERMS:
            self._write()
        return size

    def finish(self, path: Path) -> tuple[int, list[NDArray[np.uint32]]]:
        """Write the last block, and the terms of all runs in the order of their bytes.

        That is the order of their characters too: so UTF-8 is made.

        Returns:
            The number of terms, and for each run the rank of each of its terms.
        """
        self._write()
        self._end_run()
        ranks = [np.zeros(len(load_array(self._path("numbers", run))), np.uint32)
                  for run in range(self._ended)]  # fmt: skip
        last, size = None, 0
        with StringTableWriter(path) as writer:
            for term, run, number in heapq.merge(*map(self._run, range(self._ended))):
                if term != last:
                    writer.add(term)
                    last, size = term, size + 1
                ranks[run][number] = size - 1
        return size, ranks

    def _end_run(self) -> None:
        """Write the terms in memory in order, with their numbers, and forget them."""
        ordered = sorted(self._terms)
        with StringTableWriter(self._directory / f"terms-{self._ended}") as writer:
            for term in ordered:
                writer.add(term.encode("utf-8", "surrogatepass"))
        numbers = np.fromiter(map(self._terms.__getitem__, ordered), np.uint32, len(ordered))
        save_array(self._path("numbers", self._ended), numbers)
        self._terms = {}
        self._ended += 1

    def _run(self, run: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield the terms of a run, the run, and their numbers in it."""
        numbers = load_array(self._path("numbers", run))
        table = StringTable(self._directory / f"terms-{run}")
        for place in range(len(table)):
            yield table.bytes_at(place), run, numbers.item(place)

    def _write(self) -> None:
        documents = np.repeat(np.array(self._documents, np.uint32), np.array(self._sizes, np.int64))
        save_array(self._path("tokens", len(self._runs)), np.array(self._tokens, np.uint32))
        save_array(self._path("documents", len(self._runs)), documents)
        self._runs.append(self._ended)
        self._begin()
        if len(self._terms) >= _RUN_TERMS:
            self._end_run()

    def _path(self, what: str, block: int) -> Path:
        return self._directory / f"{what}-{block}.npy"

    def sort(
        self, terms: int, ranks: list[NDArray[np.uint32]], lengths: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Sort the postings of each block by (term, document), repeats counted.

        Returns:
            Where the postings of each term begin, shape (terms + 1,), and the distinct `_pairs`:
            the most frequent first, so that they get small codes and their values share the
            processor's cache.
        """
        counts = np.zeros(terms, np.uint32)
        pairs, frequency = np.empty(0, np.uint64), np.empty(0, np.int64)
        for block, run in enumerate(self._runs):
            tokens = load_array(self._path("tokens", block))
            postings = ranks[run][tokens].astype(np.int64) << 32
            postings |= load_array(self._path("documents", block))
            postings, tfs = np.unique(postings, return_counts=True)
            save_array(self._path("postings", block), postings)
            save_array(self._path("tfs", block), tfs, np.uint32)
            for what in ("tokens", "documents"):
                self._path(what, block).unlink()
            edges = np.flatnonzero(np.diff(postings >> 32, prepend=-1))
            counts[postings[edges] >> 32] += np.diff(edges, append=len(postings)).astype(np.uint32)
            new, times = np.unique(_pairs(tfs, lengths[postings & 0xFFFFFFFF]), return_counts=True)
            pairs, places = np.unique(np.concatenate([pairs, new]), return_inverse=True)
            frequency = np.bincount(places, np.concatenate([frequency, times])).astype(np.int64)
        starts = np.zeros(terms + 1, np.int64)
        np.cumsum(counts, dtype=np.int64, out=starts[1:])
        return starts, pairs[np.argsort(-frequency, kind="stable")]

    def gather(
        self, starts: NDArray[np.int64], progress: Callable[..., Any]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
        """Yield all postings in order and their term frequencies, some terms at a time."""
        edges = [0]
        while edges[-1] < len(starts) - 1:
            end = int(np.searchsorted(starts, starts[edges[-1]] + _GATHERED, side="right")) - 1
            edges.append(max(end, edges[-1] + 1))
        ranges: Iterable[tuple[int, int]] = itertools.pairwise(edges)
        if len(self._runs) > 1:
            ranges = progress(ranges, total=len(edges) - 1, desc="merge", unit="part")
        for first, last in ranges:
            parts, tfs = [], []
            for block in range(len(self._runs)):
                postings = load_array(self._path("postings", block), np.int64)
                low, high = np.searchsorted(postings, [first << 32, last << 32])
                # Copies, so that no file of a block stays open: there may be thousands.
                parts.append(np.array(postings[low:high]))
                tfs.append(np.array(load_array(self._path("tfs", block))[low:high]))
            gathered = np.concatenate(parts)
            order = np.argsort(gathered, kind="stable")  # nearly sorted, in runs
            yield gathered[order], np.concatenate(tfs)[order]
