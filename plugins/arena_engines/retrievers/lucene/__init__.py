"""Lucene's own BM25, over the documents and with the statistics of a scope.

Lucene keeps document i of its index where ours has the i-th searchable paper, so a cutoff is a
range of its document numbers, and a search scores that range and no more. What Lucene takes from
the whole index, the number of documents, their average length and the document frequency of a
term, is given to it for the scope (see `_worker`).

Java runs in a process of its own, one for each opened engine and each process that searches.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import ArenaError, CorpusError
from arena.kit.arrays import load_array, save_array
from arena.retrieval.base import OpenedIndex, Ranking, Request, Scope, retriever
from arena.retrieval.bm25 import LexicalEngine
from arena.text import analyze
from arena.text.display import count
from arena_engines.retrievers.lucene._java import requirements as requirements

SEGMENT = "segment"
"""Directory of Lucene's own files."""


@retriever("lucene")
class LuceneRetriever(LexicalEngine):
    """Lucene's BM25 with the statistics of the cutoff, its index on disk."""

    def load(self, directory: Path) -> None:
        """Open the arrays; Java starts with the first search."""
        requirements()
        # Java opens its files with the first search; the arrays of another index would give wrong
        # scores.
        self._opened = OpenedIndex(directory, "documents_before.npy")
        self._documents = load_array(directory / "documents.npy", np.uint32)
        before = self._documents_before
        if not len(before) or len(self._documents) != before[-1]:
            raise self._damaged("its arrays do not belong together")
        if not any((directory / SEGMENT).glob("segments_*")):
            raise self._damaged(f"{SEGMENT}/segments_* is missing")
        self._processes: dict[int, JavaProcess] = {}
        self._locks: dict[int, threading.Lock] = {}
        weakref.finalize(self, _end, self._processes)

    @classmethod
    def write(
        cls, texts: Any, directory: Path, lengths: NDArray[np.uint32], progress: Callable[..., Any]
    ) -> dict[str, Any]:
        """Write a Lucene index in a process of its own; this one stays free of Java."""
        documents = []
        process = JavaProcess(
            "the lucene index cannot be written", "write", str(directory / SEGMENT)
        )
        with contextlib.closing(process):
            for document, text in texts:
                terms = analyze(text)
                documents.append(document)
                lengths[document] = len(terms)
                process.send(" ".join(terms))
            process.send(None)
            counts = process.receive()
        save_array(directory / "documents.npy", np.array(documents, np.uint32))
        return {"jar": requirements().jar.name, **process.versions, **counts}

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return the `k` best documents of each scope that have a term of the query.

        Scores are Lucene's float32. Lucene scores on all cores that the process may use.
        """
        prepared = [self._prepare(*request) for request in requests]
        asked = [arguments for arguments in prepared if arguments is not None]
        answers = iter(self._ask(asked) if asked else ())
        return [
            self._ranking([] if arguments is None else next(answers)["scoreDocs"])
            for arguments in prepared
        ]

    def _prepare(self, query: str, k: int, scope: Scope) -> list[Any] | None:
        """Return the arguments of a search in Lucene's numbers; None if nothing can match."""
        counted, before = self._counted(scope), self._documents_before
        end = before.item(counted.end)
        k = min(k, end - len(counted.excluded))
        terms = Counter(analyze(query)) if k > 0 else None
        if not terms:
            return None
        # In the order of their bytes: sums do not depend on the order of the words.
        ordered = sorted(terms.items(), key=lambda item: item[0].encode("utf-8", "surrogatepass"))
        statistics = (self._statistics == "cutoff", counted.documents, counted.length)
        return [ordered, k, end, [before.item(d) for d in counted.excluded], statistics]

    def _ranking(self, hits: list[dict[str, Any]]) -> Ranking:
        numbers = np.array([hit["doc"] for hit in hits], np.int64)
        scores = np.array([hit["score"] for hit in hits], np.float32)
        return Ranking(self._documents[numbers].astype(np.int64), scores.astype(np.float64))

    def _ask(self, batch: list[Any]) -> list[dict[str, Any]]:
        """Return Lucene's hits, from the process that this one has for them."""
        # Of each process its own: a forked one has the memory of this one and none of its threads.
        own = os.getpid()
        with self._locks.setdefault(own, threading.Lock()):
            try:
                process = self._processes.get(own)
                if process is None:
                    process = self._processes[own] = self._start()
                process.send(batch)
                return process.receive()["hits"]  # type: ignore[no-any-return]
            except OSError as error:  # of Lucene, which can answer the next question
                raise self._damaged(str(error)) from None
            except BaseException:  # Ctrl-C among them: the answer would come to the next question
                if process := self._processes.pop(own, None):
                    process.close()
                raise

    def _start(self) -> JavaProcess:
        self._opened.require_same_file()
        segment = self._directory / SEGMENT
        process = JavaProcess(
            f"{str(segment)!r} cannot be searched",
            "search", str(segment), str(self._k1), str(self._b),
        )  # fmt: skip
        try:
            documents, segments = process.receive()["shape"]
            self._opened.require_same_file()
            if (segments, documents) != (1, len(self._documents)):
                raise self._damaged(
                    f"{SEGMENT} has {count(documents, 'document')} in "
                    f"{count(segments, 'segment')}, not "
                    f"{len(self._documents)} in one"
                )
        except BaseException:
            process.close()
            raise
        return process

    def _damaged(self, why: str) -> CorpusError:
        return CorpusError(
            f"the lucene index in {str(self._directory)!r} is damaged: {why}. Build it again."
        )


def _end(processes: dict[int, JavaProcess]) -> None:
    if process := processes.get(os.getpid()):
        process.close()


class JavaProcess:
    """A process of `_worker`; `versions` are those of Lucene and Java.

    `failing` begins the message about an error in it: what cannot be done. Raises ArenaError if a
    package or Java is absent, or Java does not start.
    """

    def __init__(self, failing: str, *arguments: str) -> None:
        self._failing = f"Java in {str(requirements().java_home)!r} does not start"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena_engines.retrievers.lucene._worker", *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                bufsize=1 << 20, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )  # fmt: skip
        except OSError as error:  # of memory
            raise ArenaError(f"{self._failing}: {error.strerror}.") from None
        try:
            self.versions = self.receive()
        except BaseException:
            self.close()
            raise
        self._failing = failing

    def send(self, value: Any) -> None:
        """Send a value; ArenaError if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value).encode("ascii") + b"\n")
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self) -> dict[str, Any]:
        """Return the answer to all that was sent."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        return self._checked(json.loads(line))

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        if (failure := answer.get("failure")) is None:
            return answer
        if failure == "files":
            raise OSError(answer["why"])
        why = answer["why"]
        if failure == "memory":
            why = "Java ran out of memory. Ask for fewer hits, or allow it more with the "
            why += "environment variable _JAVA_OPTIONS=-Xmx4g"
        raise ArenaError(f"{self._failing}: {why.rstrip('.')}.")

    def _ended(self) -> ArenaError:
        status = self._process.wait()
        what = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").splitlines()
        said = " ".join(line for line in lines if not line.startswith("Picked up "))
        return ArenaError(f"{self._failing}: its process ended with {what}. {said[-500:]}".rstrip())

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
