"""Write posting lists in bounded memory: a block of documents, then a range of terms at a time.

Only the terms themselves stay in memory, 140 bytes each. Blocks keep the tokens of their documents
on disk; when all terms are known, each block is sorted by (term, document), and the lists are
gathered from all blocks. A posting is a document and a code, which stands for a pair of term
frequency and document length: all that a score needs to know of it.
"""

from __future__ import annotations

import itertools
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, StringTableWriter, load_array, save_array
from arena.text import TermMemo, tokenize

_BLOCK_TOKENS = 8_000_000
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
        ranks = _write_terms(directory, blocks.finish())
        counts, pairs = blocks.sort(ranks, lengths)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
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
    return {"terms": len(counts), "postings": int(starts[-1])}


def _pairs(tfs: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Return pairs of term frequency and document length as integers."""
    return tfs.astype(np.uint64) << np.uint64(32) | lengths.astype(np.uint64)


def _write_terms(directory: Path, terms: dict[str, int]) -> NDArray[np.int64]:
    """Write the terms, given with their numbers, in the order of their bytes; return their places.

    That is the order of their characters too: so UTF-8 is made.
    """
    places = np.empty(len(terms), np.int64)
    with StringTableWriter(directory / "terms") as writer:
        for place, term in enumerate(sorted(terms)):
            writer.add(term.encode("utf-8", "surrogatepass"))
            places[terms[term]] = place
    return places


class _PostingBlocks:
    """The tokens of all documents, then their postings, ``term << 32 | document``, in files."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._count = directory, 0
        self._terms: dict[str, int] = {}
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
        if len(self._tokens) >= _BLOCK_TOKENS:
            self._write()
        return size

    def finish(self) -> dict[str, int]:
        """Write the last block; return all terms with their numbers, and forget them."""
        self._write()
        terms, self._terms = self._terms, {}
        return terms

    def _write(self) -> None:
        documents = np.repeat(np.array(self._documents, np.uint32), np.array(self._sizes, np.int64))
        save_array(self._path("tokens", self._count), np.array(self._tokens, np.uint32))
        save_array(self._path("documents", self._count), documents)
        self._count += 1
        self._begin()

    def _path(self, what: str, block: int) -> Path:
        return self._directory / f"{what}-{block}.npy"

    def sort(
        self, ranks: NDArray[np.int64], lengths: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Sort the postings of each block by (term, document), repeats counted.

        Returns:
            The number of postings of each term, and the distinct `_pairs`: the most frequent
            first, so that they get small codes and their values share the processor's cache.
        """
        counts = np.zeros(len(ranks), np.int64)
        pairs, frequency = np.empty(0, np.uint64), np.empty(0, np.int64)
        for block in range(self._count):
            postings = ranks[load_array(self._path("tokens", block))] << 32
            postings |= load_array(self._path("documents", block))
            postings, tfs = np.unique(postings, return_counts=True)
            save_array(self._path("postings", block), postings)
            save_array(self._path("tfs", block), tfs, np.uint32)
            for what in ("tokens", "documents"):
                self._path(what, block).unlink()
            counts += np.bincount(postings >> 32, minlength=len(counts))
            new, times = np.unique(_pairs(tfs, lengths[postings & 0xFFFFFFFF]), return_counts=True)
            pairs, places = np.unique(np.concatenate([pairs, new]), return_inverse=True)
            frequency = np.bincount(places, np.concatenate([frequency, times])).astype(np.int64)
        return counts, pairs[np.argsort(-frequency, kind="stable")]

    def gather(
        self, starts: NDArray[np.int64], progress: Callable[..., Any]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
        """Yield all postings in order and their term frequencies, some terms at a time."""
        edges = [0]
        while edges[-1] < len(starts) - 1:
            end = int(np.searchsorted(starts, starts[edges[-1]] + _GATHERED, side="right")) - 1
            edges.append(max(end, edges[-1] + 1))
        ranges: Iterable[tuple[int, int]] = itertools.pairwise(edges)
        if self._count > 1:
            ranges = progress(ranges, total=len(edges) - 1, desc="merge", unit="part")
        for first, last in ranges:
            parts, tfs = [], []
            for block in range(self._count):
                postings = load_array(self._path("postings", block), np.int64)
                low, high = np.searchsorted(postings, [first << 32, last << 32])
                # Copies, so that no file of a block stays open: there may be thousands.
                parts.append(np.array(postings[low:high]))
                tfs.append(np.array(load_array(self._path("tfs", block))[low:high]))
            gathered = np.concatenate(parts)
            order = np.argsort(gathered, kind="stable")  # nearly sorted, in runs
            yield gathered[order], np.concatenate(tfs)[order]
