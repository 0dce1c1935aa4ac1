"""Build the index: analysis in the calling process, Lucene in a process of its own.

The writing process, which is this module run by ``python -m``, starts Java with a seed that makes
Lucene's random names the same in every build. The calling process stays free of Java, so that it
can fork. Documents go to the writer by a pipe; it answers with JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from arena._internal.arrays import save_array
from arena.errors import ArenaError
from arena.retrieval.base import IndexInput
from arena.retrieval.lucene import _jvm
from arena.retrieval.lucene._searcher import FIELD, SEGMENT
from arena.text import ANALYZER, analyze

LENGTH = struct.Struct("<I")
"""Stands before each document: the bytes of its terms."""

END = 2**32 - 1
"""Stands in the place of a length after the last document."""

_PR_SET_PDEATHSIG = 1
_SEGMENT_TOKENS = 16_000_000
_MEMORY_MB = 256.0
# Of 255 characters, each up to two of Java's.
_LONGEST_TERM = 1024
# Lucene takes its random names from it, if there is one.
_SEED = "-Dtests.seed=1"


def build(
    source: IndexInput,
    directory: Path,
    fields: tuple[str, ...],
    progress: Callable[..., Any],
) -> dict[str, Any]:
    """Write all files of the index; return the engine's entries of its manifest."""
    jar = _jvm.requirements().jar
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
    """The process that writes, as the calling process sees it."""

    def __init__(self, directory: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - __exit__ closes it
        paths = [path or str(Path.cwd()) for path in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(directory), str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=1 << 20,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip
        assert self._process.stdin is not None
        self._input = self._process.stdin

    def add(self, terms: str) -> None:
        """Send the next document: its terms with blanks between them."""
        data = terms.encode("utf-8")
        self._write(LENGTH.pack(len(data)) + data)

    def finish(self) -> dict[str, Any]:
        """Complete the index; return what the manifest says of it."""
        self._write(LENGTH.pack(END))
        try:
            self._input.flush()
        except BrokenPipeError:
            raise self._failure() from None
        # The pipe stays open: as long as it is, the writer knows that someone waits.
        assert self._process.stdout is not None
        answer = self._process.stdout.read()
        if self._process.wait() != 0:
            raise self._failure(answer)
        return json.loads(answer)  # type: ignore[no-any-return]

    def _write(self, data: bytes) -> None:
        try:
            self._input.write(data)
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self, answer: bytes = b"") -> Exception:
        assert self._process.stdout is not None
        answer = answer or self._process.stdout.read()
        status = self._process.wait()
        with contextlib.suppress(ValueError):
            failure = json.loads(answer)
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


def write(
    texts: Iterable[str], directory: Path, segment_tokens: int = _SEGMENT_TOKENS
) -> dict[str, Any]:
    """Write an index of one segment, its documents in the order of `texts`.

    Args:
        texts: Terms of each document with blanks between them.
        directory: Directory of the index; made if absent.
        segment_tokens: Number of terms that are gathered in memory.

    Returns:
        What the manifest says of it.
    """
    java = _jvm.start(_SEED)
    lucene = java.lucene
    directory.mkdir(parents=True, exist_ok=True)
    path = java("java.nio.file.Paths").get(str(directory))
    store = lucene("store.MMapDirectory")(path)
    writer = lucene("index.IndexWriter")(store, _configuration(java))
    field, document = _document(java)
    set_text, add, tokens = field.setStringValue, writer.addDocument, 0
    for text in texts:
        set_text(text)
        add(document)
        tokens += text.count(" ") + 1
        # By what the documents are and not by the memory they take: the same segments each time.
        if tokens >= segment_tokens:
            writer.flush()
            tokens = 0
    writer.forceMerge(1)
    writer.commit()
    writer.close()
    counts = _strip_and_count(java, store)
    store.close()
    (directory / "write.lock").unlink(missing_ok=True)
    return {"lucene": java.lucene_version, "java": java.version, **counts}


def _configuration(java: _jvm.Java) -> Any:
    lucene = java.lucene
    analyzer = lucene("analysis.core.WhitespaceAnalyzer")(_LONGEST_TERM)
    configuration = lucene("index.IndexWriterConfig")(analyzer)
    configuration.setOpenMode(lucene("index.IndexWriterConfig$OpenMode").CREATE)
    configuration.setRAMBufferSizeMB(_MEMORY_MB)
    configuration.setUseCompoundFile(False)
    # Merges neighbours only, in this thread: documents keep their order.
    policy = lucene("index.LogDocMergePolicy")()
    policy.setNoCFSRatio(0.0)
    policy.setMergeFactor(50)
    configuration.setMergePolicy(policy)
    configuration.setMergeScheduler(lucene("index.SerialMergeScheduler")())
    return configuration


def _document(java: _jvm.Java) -> tuple[Any, Any]:
    lucene = java.lucene
    kind = lucene("document.FieldType")()
    kind.setIndexOptions(lucene("index.IndexOptions").DOCS_AND_FREQS)
    kind.setTokenized(True)
    kind.freeze()
    field = lucene("document.Field")(
        FIELD,
        java.cast("java.lang.CharSequence", java("java.lang.String")("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", kind),
    )
    document = lucene("document.Document")()
    document.add(field)
    return field, document


def _strip_and_count(java: _jvm.Java, store: Any) -> dict[str, int]:
    """Take clock and machine out of the segment's description; count its terms and postings."""
    lucene = java.lucene
    infos = lucene("index.SegmentInfos").readLatestCommit(store)
    counts = {"terms": 0, "postings": 0}
    if infos.size():
        old = infos.info(0).info
        new = lucene("index.SegmentInfo")(
            old.dir, old.getVersion(), old.getMinVersion(), old.name, old.maxDoc(),
            old.getUseCompoundFile(), old.getHasBlocks(), old.getCodec(),
            java("java.util.HashMap")(), old.getId(), old.getAttributes(), None,
        )  # fmt: skip
        name = f"{old.name}.si"
        files = java("java.util.HashSet")(old.files())
        files.remove(name)
        new.setFiles(files)
        store.deleteFile(name)
        context = lucene("store.IOContext").DEFAULT
        old.getCodec().segmentInfoFormat().write(store, new, context)
        reader = lucene("index.DirectoryReader").open(store)
        terms = reader.leaves().get(0).reader().terms(FIELD)
        if terms is not None:
            counts = {"terms": terms.size(), "postings": terms.getSumDocFreq()}
        reader.close()
    return counts


def _documents(pipe: IO[bytes]) -> Iterator[str]:
    while len(head := pipe.read(LENGTH.size)) == LENGTH.size:
        (length,) = LENGTH.unpack(head)
        if length == END:
            threading.Thread(target=_watch, args=(pipe,), daemon=True).start()
            return
        data = pipe.read(length)
        if len(data) < length:
            break
        yield data.decode("utf-8")
    os._exit(1)  # whoever wanted the index is gone


def _watch(pipe: IO[bytes]) -> None:
    """End the process with the one that waits for it, whose end closes the pipe."""
    os.read(pipe.fileno(), 1)  # past the buffer, whose lock would outlive this thread
    os._exit(1)


def main(directory: str, parent: str) -> int:
    """Write the documents of standard input; print the result on standard output."""
    # The system ends this process with its parent, also while Java is busy and nothing is read.
    with contextlib.suppress(OSError, AttributeError):  # not on Linux: the pipe tells, see `_watch`
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        return 1
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints does not get between
    try:
        result = write(_documents(sys.stdin.buffer), Path(directory))
    except Exception as error:
        java = str(getattr(error, "classname", None) or "")
        text = f"{java}: {getattr(error, 'innermessage', None)}" if java else str(error)
        result = {
            "error": text.splitlines()[0] if text else type(error).__name__,
            "input_output": isinstance(error, OSError) or java.startswith("java.io."),
        }
    json.dump(result, answer)
    answer.close()
    return int("error" in result)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
