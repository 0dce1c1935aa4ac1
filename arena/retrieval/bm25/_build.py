"""Write posting lists in bounded memory: blocks of documents, sorted, then merged.

The blocks come in document order, so the list of a term is the concatenation of its parts.
"""

from __future__ import annotations

import heapq
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._arrays import ArrayWriter, load_array, save_array
from arena._strings import StringTable, StringTableWriter
from arena.retrieval.base import IndexInput
from arena.text import analyze
from arena.text.analyzer import NAME as ANALYZER

_BLOCK_TOKENS = 8_000_000


class _Part(NamedTuple):
    """The postings of one term in one block."""

    term: bytes
    block: int
    docs: NDArray[np.uint32]
    tfs: NDArray[np.uint32]


def build(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
) -> dict[str, Any]:
    """Write all files of the index; return what its manifest shall say."""
    directory.mkdir(parents=True, exist_ok=True)
    searchable_before = source.searchable_before
    lengths = np.zeros(len(searchable_before) - 1, np.uint32)
    with tempfile.TemporaryDirectory(dir=directory, prefix="blocks-") as temporary:
        blocks: list[Path] = []
        max_tf = 1
        block = _Block()
        for document, text in progress(source.texts(fields)):
            lengths[document] = block.add(document, analyze(text))
            if block.tokens >= _BLOCK_TOKENS:
                blocks.append(Path(temporary) / str(len(blocks)))
                max_tf = max(max_tf, block.write(blocks[-1]))
                block = _Block()
        blocks.append(Path(temporary) / str(len(blocks)))
        max_tf = max(max_tf, block.write(blocks[-1]))
        del block
        terms, postings = _merge(blocks, directory, np.min_scalar_type(max_tf))
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


class _Block:
    """The tokens of some documents, numbered as they come."""

    def __init__(self) -> None:
        self.tokens = 0
        self._numbers: dict[str, int] = {}
        self._documents: list[int] = []
        self._terms: list[NDArray[np.uint32]] = []

    def add(self, document: int, terms: list[str]) -> int:
        """Take in a document; return its length in terms."""
        numbers = self._numbers
        encoded = [numbers.setdefault(term, len(numbers)) for term in terms]
        self._documents.append(document)
        self._terms.append(np.array(encoded, np.uint32))
        self.tokens += len(terms)
        return len(terms)

    def write(self, path: Path) -> int:
        """Write the block sorted by (term, document); return its highest term frequency."""
        path.mkdir()
        vocabulary = [term.encode("utf-8", "surrogatepass") for term in self._numbers]
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
        return int(tfs.max(initial=0))


def _parts(path: Path, block: int) -> Iterator[_Part]:
    starts = np.load(path / "starts.npy")
    docs, tfs = load_array(path / "docs.npy"), load_array(path / "tfs.npy")
    terms = StringTable(path / "terms")
    for number, (low, high) in enumerate(itertools.pairwise(starts)):
        yield _Part(terms.bytes_at(number), block, docs[low:high], tfs[low:high])


def _merge(blocks: list[Path], directory: Path, tf_type: np.dtype[Any]) -> tuple[int, int]:
    """Merge the blocks into the final arrays; return the counts of terms and postings."""
    docs = ArrayWriter(directory / "docs.npy", np.uint32)
    tfs = ArrayWriter(directory / "tfs.npy", tf_type)
    sizes: list[int] = []
    parts = heapq.merge(
        *(_parts(path, number) for number, path in enumerate(blocks)),
        key=lambda part: (part.term, part.block),
    )
    last: bytes | None = None
    with docs, tfs, StringTableWriter(directory / "terms") as terms:
        for part in parts:
            if part.term != last:
                last = part.term
                sizes.append(0)
                terms.add(last)
            sizes[-1] += len(part.docs)
            docs.append(part.docs)
            tfs.append(part.tfs)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(sizes, np.int64))])
    save_array(directory / "starts.npy", starts)
    return len(sizes), int(starts[-1])
