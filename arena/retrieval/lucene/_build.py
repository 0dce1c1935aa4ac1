"""Build the index: analysis here, Lucene in a process of its own.

That process has the Java that writes, with a seed that makes Lucene's random names the same in
every build; this one stays free of Java, so that it can fork.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.arrays import save_array
from arena.errors import ArenaError
from arena.retrieval.base import IndexInput
from arena.retrieval.lucene._requirements import requirements
from arena.retrieval.lucene._writer import END, LENGTH
from arena.retrieval.lucene.retriever import SEGMENT
from arena.text import ANALYZER, analyze


def build(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
) -> dict[str, Any]:
    """Write all files of the index; return what its manifest shall say."""
    jar = requirements().jar
    directory.mkdir(parents=True, exist_ok=True)
    searchable_before = source.searchable_before
    lengths = np.zeros(len(searchable_before) - 1, np.uint32)
    with _Writer(directory / SEGMENT) as writer:
        for document, text in progress(source.texts(fields)):
            terms = analyze(text)
            lengths[document] = len(terms)
            writer.add(" ".join(terms))
        written = writer.finish()
    documents = np.flatnonzero(np.diff(searchable_before)).astype(np.uint32)
    save_array(directory / "documents.npy", documents)
    save_array(directory / "documents_before.npy", searchable_before)
    save_array(
        directory / "length_before.npy",
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
    )
    return {
        "analyzer": ANALYZER,
        "fields": list(fields),
        "documents": int(searchable_before[-1]),
        "tokens": int(lengths.sum(dtype=np.int64)),
        "jar": jar.name,
        **written,
    }


class _Writer:
    """The process that writes; it takes documents as lines of terms, in order."""

    def __init__(self, directory: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - __exit__ closes it
        paths = [path or str(Path.cwd()) for path in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena.retrieval.lucene._writer", str(directory)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=1 << 20,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip
        assert self._process.stdin is not None
        self._input = self._process.stdin

    def add(self, terms: str) -> None:
        """Hand over the next document: its terms with blanks between them."""
        data = terms.encode("utf-8")
        self._write(LENGTH.pack(len(data)) + data)

    def finish(self) -> dict[str, Any]:
        """Complete the index; return what the writer tells of it."""
        self._write(LENGTH.pack(END))
        try:
            self._input.flush()
        except BrokenPipeError:
            raise self._failure() from None
        # The pipe stays open: as long as it is, the writer knows that someone waits.
        assert self._process.stdout is not None
        told = self._process.stdout.read()
        if self._process.wait() != 0:
            raise self._failure(told)
        return json.loads(told)  # type: ignore[no-any-return]

    def _write(self, data: bytes) -> None:
        try:
            self._input.write(data)
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self, told: bytes = b"") -> Exception:
        assert self._process.stdout is not None
        told = told or self._process.stdout.read()
        status = self._process.wait()
        with contextlib.suppress(ValueError):
            failure = json.loads(told)
            if failure["input_output"]:
                return OSError(failure["error"])
            return ArenaError(f"the lucene index cannot be written: {failure['error']}")
        what = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        last = f" Its last words: {lines[-1][:500]}" if lines else ""
        return ArenaError(f"the process that writes the lucene index ended with {what}.{last}")

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()
