"""The process that writes a Lucene index: documents come in by a pipe, JSON goes out."""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from arena.retrieval.lucene import _jvm
from arena.retrieval.lucene._searcher import FIELD

LENGTH = struct.Struct("<I")
"""Stands before each document: the bytes of its terms."""

END = 2**32 - 1
"""Stands in the place of a length after the last document."""

_SEGMENT_TOKENS = 16_000_000
_MEMORY_MB = 256.0
# Of 255 characters, each up to two of Java's.
_LONGEST_TERM = 1024
# Lucene takes its random names from it, if there is one.
_SEED = "-Dtests.seed=1"


def write(
    texts: Iterable[str], directory: Path, segment_tokens: int = _SEGMENT_TOKENS
) -> dict[str, Any]:
    """Write an index of one segment, its documents in the order of `texts`.

    Args:
        texts: the terms of each document with blanks between them.
        directory: where; made if absent.
        segment_tokens: how many terms are gathered in memory.

    Returns:
        What the manifest shall say of it.
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


def main(directory: str) -> int:
    """Write what comes by standard input; tell the result on standard output."""
    told = os.fdopen(os.dup(1), "w")
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
    json.dump(result, told)
    told.close()
    return int("error" in result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
