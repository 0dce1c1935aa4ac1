"""Processes of this machine: the executor named ``local``."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import ClassVar, TypeVar

from arena._internal.signals import deaf_to_interrupts
from arena.errors import DataError, WorkerError, clip
from corpus_builder.executors._outcome import Outcome, one_thread, perform
from corpus_builder.executors.base import EXECUTORS

T = TypeVar("T")
R = TypeVar("R")

_PR_SET_PDEATHSIG = 1
_WAITING = 2  # tasks of each process that are on their way, so that none waits for the next


@EXECUTORS.register("local")
class Local:
    """Processes of this machine."""

    remote: ClassVar[bool] = False

    def __init__(self, workers: int) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise DataError(f"workers={clip(workers)}: give at least 1.")
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        return self._workers

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it comes, in any order."""
        left = iter(tasks)
        first = list(islice(left, 2))
        if self._workers == 1 or len(first) < 2:
            yield from map(function, chain(first, left))
            return
        futures: set[Future[Outcome]] = set()
        try:
            waiting = chain(first, left)
            while True:
                room = _WAITING * self._workers - len(futures)
                futures.update(self._submit(function, islice(waiting, room)))
                if not futures:
                    break
                done, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in done:
                    futures.remove(future)
                    yield future.result().get()
        except BrokenProcessPool:
            self._stop()
            raise WorkerError(
                "a process that worked for this build has ended; it may have been killed for want "
                "of memory. The same command goes on; give it fewer --workers or less --memory."
            ) from None
        finally:
            if futures:
                self._stop()

    def close(self) -> None:
        """End all processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _submit(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[Future[Outcome]]:
        if self._pool is None:
            # Not forked: a fork copies the locks of DuckDB's and Arrow's threads as they are.
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_begin,
                initargs=(os.getpid(),),
            )
        futures = []
        for task in tasks:
            with deaf_to_interrupts():  # submitting may start a process
                futures.append(self._pool.submit(perform, function, task))
        return futures

    def _stop(self) -> None:
        """End all processes without waiting for their tasks."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self.close()


def _begin(parent: int) -> None:
    """Let this process end when `parent` does, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before that
        os._exit(1)
    one_thread()
