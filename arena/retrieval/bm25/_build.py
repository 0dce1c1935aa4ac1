"""Write posting lists in bounded memory: blocks of documents, sorted, then merged.

The blocks come in document order, so the list of a term is the concatenation of its parts. A
posting is a document and a code, which stands for a pair of term frequency and document length:
all that a score needs to know of it.
"""

from __future__ import annotations

import heapq
import itertools
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import (
    ArrayWriter,
    StringTable,
    StringTableWriter,
    load_array,
    save_array,
)
from arena.retrieval.base import IndexInput
from arena.text import ANALYZER, TermMemo, tokenize

_BLOCK_TOKENS = 8_000_000
_CHUNK = 4_000_000  # postings handled at once where only counts are kept
_MERGED = 64  # blocks merged at once


class _Part(NamedTuple):
    """The postings of one term in one block."""

    term: bytes
    block: int
    docs: NDArray[np.uint32]
    codes: NDArray[Any]


class _Pairs(NamedTuple):
    """The distinct pairs of a posting, the most frequent first.

    Attributes:
        keys: Term frequency << 32 | document length, uint64.
        order: Places that sort `keys`.
    """

    keys: NDArray[np.uint64]
    order: NDArray[np.int64]

    def codes(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the place of each key."""
        return self.order[np.searchsorted(self.keys, keys, sorter=self.order)]


def build(
    source: IndexInput, directory: Path, fields: tuple[str, ...], progress: Callable[..., Any]
) -> dict[str, Any]:
    """Write all files of the index; return the engine's entries of its manifest."""
    directory.mkdir(parents=True, exist_ok=True)
    searchable_before = source.searchable_before
    lengths = np.zeros(len(searchable_before) - 1, np.uint32)
    with tempfile.TemporaryDirectory(dir=directory, prefix="blocks-") as temporary:
        texts = iter(progress(source.texts(fields)))
        blocks = list(_blocks(texts, Path(temporary), lengths))
        pairs = _pairs(blocks, lengths)
        terms, postings = _merge(blocks, directory, pairs, lengths, progress)
    save_array(directory / "pair_tfs.npy", (pairs.keys >> np.uint64(32)).astype(np.uint32))
    save_array(directory / "pair_lengths.npy", pairs.keys.astype(np.uint32))
    save_array(directory / "lengths.npy", lengths)
    save_array(directory / "documents_before.npy", searchable_before)
    save_array(
        directory / "length_before.npy",
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
    )
    return {
        "analyzer": ANALYZER,
        "fields": list(fields),
        "documents": int(searchable_before[-1]),
        "terms": terms,
        "postings": postings,
        "tokens": int(lengths.sum(dtype=np.int64)),
    }


def _blocks(
    texts: Iterator[tuple[int, str]], directory: Path, lengths: NDArray[np.uint32]
) -> Iterator[Path]:
    """Write the documents block by block; fill in their lengths."""
    block = _Block()
    for number in itertools.count():
        path = directory / str(number)
        for document, text in texts:
            lengths[document] = block.add(document, text)
            if block.tokens >= _BLOCK_TOKENS:
                break
        else:
            block.write(path)
            yield path
            return
        block.write(path)
        block = _Block()
        yield path


class _Numbers(dict[str, int]):
    """Token -> number of its term, -1 for a stop word, filled on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        self._memo = TermMemo()

    def __missing__(self, token: str) -> int:
        term = self._memo[token]
        number = self.terms.setdefault(term, len(self.terms)) if term else -1
        self[token] = number
        return number


class _Block:
    """The tokens of some documents, numbered as they come."""

    def __init__(self) -> None:
        self.tokens = 0
        self._numbers = _Numbers()
        self._documents: list[int] = []
        self._terms: list[NDArray[np.uint32]] = []

    def add(self, document: int, text: str) -> int:
        """Add a document; return its length in terms."""
        numbers = self._numbers
        terms = [number for token in tokenize(text) if (number := numbers[token]) >= 0]
        self._documents.append(document)
        self._terms.append(np.array(terms, np.uint32))
        self.tokens += len(terms)
        return len(terms)

    def write(self, path: Path) -> None:
        """Write the block sorted by (term, document)."""
        path.mkdir()
        vocabulary = [term.encode("utf-8", "surrogatepass") for term in self._numbers.terms]
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        rank = np.empty(len(vocabulary), np.int64)
        rank[order] = np.arange(len(vocabulary))
        counts = [len(terms) for terms in self._terms]
        tokens = np.concatenate([np.empty(0, np.uint32), *self._terms])
        # One integer sorts by (term, document) and finds repeats.
        keys = rank[tokens] << 32
        keys |= np.repeat(np.array(self._documents, np.int64), counts)
        keys, tfs = np.unique(keys, return_counts=True)
        save_array(path / "docs.npy", (keys & 0xFFFFFFFF).astype(np.uint32))
        save_array(path / "tfs.npy", tfs.astype(np.uint32))
        starts = np.searchsorted(keys >> 32, np.arange(len(vocabulary) + 1))
        save_array(path / "starts.npy", starts.astype(np.int64))
        with StringTableWriter(path / "terms") as writer:
            for i in order:
                writer.add(vocabulary[i])


def _keys(path: Path, lengths: NDArray[np.uint32]) -> Iterator[NDArray[np.uint64]]:
    """Yield the pairs of a block's postings as integers, a chunk at a time."""
    docs, tfs = load_array(path / "docs.npy"), load_array(path / "tfs.npy")
    for start in range(0, len(docs), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        yield tfs[chunk].astype(np.uint64) << np.uint64(32) | lengths[docs[chunk]]


def _pairs(blocks: list[Path], lengths: NDArray[np.uint32]) -> _Pairs:
    """Count the pairs, so that frequent ones get small codes and their values share the cache."""
    keys, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
    for chunk in itertools.chain.from_iterable(_keys(path, lengths) for path in blocks):
        new_keys, new_counts = np.unique(chunk, return_counts=True)
        keys, places = np.unique(np.concatenate([keys, new_keys]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts, new_counts])).astype(np.int64)
    keys = keys[np.argsort(-counts, kind="stable")]
    return _Pairs(keys, np.argsort(keys, kind="stable"))


def _parts(path: Path, block: int) -> Iterator[_Part]:
    starts = load_array(path / "starts.npy")
    docs, codes = load_array(path / "docs.npy"), load_array(path / "codes.npy")
    terms = StringTable(path / "terms")
    low = 0
    for number in range(len(terms)):
        high = starts.item(number + 1)
        yield _Part(terms.bytes_at(number), block, docs[low:high], codes[low:high])
        low = high


def _merge(
    blocks: list[Path],
    directory: Path,
    pairs: _Pairs,
    lengths: NDArray[np.uint32],
    progress: Callable[..., Any],
) -> tuple[int, int]:
    """Merge the blocks into the final arrays; return the counts of terms and postings."""
    code_type = np.min_scalar_type(max(len(pairs.keys), 2**16) - 1)  # two bytes, or else four
    for path in blocks:
        with ArrayWriter(path / "codes.npy", code_type) as writer:
            for keys in _keys(path, lengths):
                writer.append(pairs.codes(keys))
        (path / "tfs.npy").unlink()
    while len(blocks) > _MERGED:  # in rounds, because each block keeps four files open
        groups = [blocks[start : start + _MERGED] for start in range(0, len(blocks), _MERGED)]
        blocks = []
        for group in groups:
            blocks.append(group[0].with_name(f"{group[0].name}-merged"))
            _merge_once(group, blocks[-1], code_type, progress)
            for path in group:
                shutil.rmtree(path)
    return _merge_once(blocks, directory, code_type, progress)


def _merge_once(
    blocks: list[Path], directory: Path, code_type: np.dtype[Any], progress: Callable[..., Any]
) -> tuple[int, int]:
    """Merge some blocks into one; return the counts of terms and postings."""
    docs = ArrayWriter(directory / "docs.npy", np.uint32)
    codes = ArrayWriter(directory / "codes.npy", code_type)
    sizes = array("q", [0])
    parts = heapq.merge(
        *(_parts(path, number) for number, path in enumerate(blocks)),
        key=lambda part: (part.term, part.block),
    )
    parts = progress(parts, total=None, desc="merge", unit="list") if len(blocks) > 1 else parts
    last: bytes | None = None
    with docs, codes, StringTableWriter(directory / "terms") as terms:
        for part in parts:
            if part.term != last:
                last = part.term
                sizes.append(0)
                terms.add(last)
            sizes[-1] += len(part.docs)
            docs.append(part.docs)
            codes.append(part.codes)
    starts = np.cumsum(np.frombuffer(sizes, np.int64))
    save_array(directory / "starts.npy", starts)
    return len(starts) - 1, int(starts[-1])
