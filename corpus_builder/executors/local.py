"""The executor ``local``: processes of this machine."""

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
from typing import TypeVar

from arena._internal.cores import block_sigint_in_children
from arena.errors import WorkerError
from corpus_builder.executors.base import EXECUTORS, Executor, limit_threads, perform

T = TypeVar("T")
R = TypeVar("R")

_PR_SET_PDEATHSIG = 1
_QUEUED = 2  # submitted tasks per process, so that no process waits for its next task


@EXECUTORS.register("local")
class Local(Executor):
    """A pool of processes of this machine; with one worker, or one task, the caller's process."""

    _pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it completes, in any order."""
        queue = iter(tasks)
        first = list(islice(queue, 2))
        queue = chain(first, queue)
        if self.workers == 1 or len(first) < 2:
            yield from map(function, queue)
            return
        if self._pool is None:
            # Not forked: a fork copies the locks of DuckDB's and Arrow's threads as they are.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self.workers, context, initializer=_start_worker, initargs=(os.getpid(),)
            )
        futures: set[Future[R]] = set()
        try:
            while True:
                for task in islice(queue, _QUEUED * self.workers - len(futures)):
                    with block_sigint_in_children():  # submitting may start a process
                        futures.add(self._pool.submit(perform, function, task))
                if not futures:
                    break
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    futures.remove(future)
                    yield future.result()
        except BrokenProcessPool:
            self.close()
            raise WorkerError(
                "a worker process of this build has ended; it may have been killed for want of "
                "memory. The same command goes on; give it fewer --workers or less --memory."
            ) from None
        finally:
            if futures:
                self.close()

    def close(self) -> None:
        """Kill all worker processes without waiting for their tasks."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(cancel_futures=True)


def _start_worker(parent: int) -> None:
    """Make this process end when `parent` ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call above
        os._exit(1)
    limit_threads()
