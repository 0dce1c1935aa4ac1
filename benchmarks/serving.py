"""What benchmarks of episodes and servers share: queries, servers, and what processes cost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import arena
from arena.corpus.store import CorpusStore
from arena.errors import DataError

_WORDS = (3, 6)  # of a query


def queries_of(corpus: arena.Corpus, seed: int = 0) -> Iterator[str]:
    """Yield distinct queries without end: three to six neighbouring words of a paper's title.

    A query that was there before gets words of further titles, so that a small corpus has enough.
    The corpus must have a searchable paper with a title.
    """
    store, rng, given = CorpusStore(corpus.directory), random.Random(seed), set[str]()
    searchable = [n for n in range(len(store.titles)) if store.is_searchable(n)]
    while True:
        words: list[str] = []
        while not words or " ".join(words) in given:
            title = store.titles[rng.choice(searchable)].split()
            count = min(len(title), rng.randint(*_WORDS))
            start = rng.randrange(len(title) - count + 1)
            words += title[start : start + count]
        given.add(" ".join(words))
        yield " ".join(words)


@contextmanager
def serving(
    corpus: arena.Corpus, retriever: str, words: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """Yield the URL of a server in a process of its own, and the number of that process.

    Args:
        corpus: The corpus.
        retriever: An engine of it.
        words: What ``arena serve`` serves, and further options.

    Raises:
        DataError: If the server does not start.
    """
    command = [sys.executable, "-m", "arena.cli", "serve", *words, "--port", "0"]
    command += ["--corpus", str(corpus.directory), "--retriever", retriever]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline().split()
            if not line:
                raise DataError("the server did not start; its message stands above.")
            yield line[2], server.pid
        finally:
            server.terminate()


def megabytes_of(process: int) -> float:
    """Return the most memory that a process has had, in MB; on Linux."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def cpu_of(process: int) -> float:
    """Return the CPU seconds that a process has used; on Linux."""
    after_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    user, system = map(int, after_name.split()[11:13])  # utime and stime of proc(5)
    return (user + system) / os.sysconf("SC_CLK_TCK")
