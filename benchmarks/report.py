"""What benchmarks share: commands, tables, queries, servers, and what processes cost."""

from __future__ import annotations

import functools
import multiprocessing
import os
import platform
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

from tabulate import tabulate

import arena
from arena.corpus.store import CorpusStore
from arena.errors import ArenaError, DataError, clip
from arena.kit.files import write_json
from arena.kit.process import cores
from arena.text.display import count

Results = dict[str, Any]


def printing(measure: Callable[..., Results], show: Callable[[Results], str]) -> Any:
    """Return a command with the options of `measure` that prints what `show` makes of its results.

    The results have the options, too, as ``settings``, and the machine. ``--json`` writes them.
    """

    @functools.wraps(measure)
    def command(json: str | None = None, **options: Any) -> None:
        results = {"settings": options, "machine": machine(), **measure(**options)}
        print(show(results))
        if json:
            write_json(json, results)

    return command


def machine() -> str:
    """Return processor, cores, memory and version of Python in one line."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cpu = names[0] if names else platform.processor() or platform.machine()
    return f"{cpu}, {count(cores(), 'core')}, {memory:.0f} GiB; Python {platform.python_version()}"


def head(results: Results) -> str:
    """Return the machine and the hash of the corpus in one line."""
    return f"{results['machine']}; corpus {results['corpus'][:12]}"


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table under its title; numbers get three significant digits.

    >>> print(table("times", ("engine", "ms"), [("bm25", 0.12345), ("lucene", 1234.5)]))
    times
    <BLANKLINE>
    | engine | ms    |
    |--------|-------|
    | bm25   | 0.123 |
    | lucene | 1,234 |
    """
    cells = [[_cell(value) for value in row] for row in rows]
    text = tabulate(cells, headers, "github", disable_numparse=True)
    return f"{title}\n\n{text}"


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def check_range(least: float, most: float, **settings: float) -> None:
    """Raise DataError, which names the option and its value, if a setting is out of range."""
    for name, value in settings.items():
        if not least <= value <= most:
            wanted = f"of at least {least}" if most == float("inf") else f"from {least} to {most:g}"
            raise DataError(f"--{name.replace('_', '-')} {clip(value)}: give a number {wanted}.")


def numbers(option: str, texts: Sequence[str], kind: type) -> list[Any]:
    """Return the numbers in the texts of an option; raise DataError if one is none."""
    try:
        return [kind(text) for text in texts]
    except ValueError:
        raise DataError(f"--{option} {','.join(texts)!r}: give numbers with commas.") from None


def in_child(function: Callable[..., Any], *arguments: Any, threads: int) -> Any:
    """Return what a function returns in a new process that may use so many cores."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, _limit_cores, (threads,)) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise ArenaError("its process was killed.") from None
        except ArenaError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ArenaError(reason[:300]) from None


def _limit_cores(threads: int) -> None:
    """Let this process, its threads and its children use no more than `threads` cores."""
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["NUMBA_NUM_THREADS"] = str(threads)


def size_of(directory: Path) -> int:
    """Return the bytes of all files in a directory, at any depth."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


class Clock:
    """Seconds of a block: `wall` on the clock, `cpu` of all threads here and in processes below.

    Lucene runs in such a process.
    """

    wall = cpu = 0.0

    def __enter__(self) -> Clock:
        below = _cpu_below()  # first, for its own time must not count
        self._begun = below + time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self._begun[1]
        self.cpu = time.process_time() + _cpu_below() - self._begun[0]


def _cpu_below() -> float:
    """Return the CPU seconds of the processes that this one started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = 0  # nanoseconds of those that run; 0 without /proc
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                threads = stat.parent.glob("task/*/schedstat")
                found += sum(int(thread.read_text().split()[0]) for thread in threads)
    return ended.ru_utime + ended.ru_stime + found / 1e9


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
