"""Executors, which run the tasks of a build: their interface, and processes of this machine."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import ClassVar, TypeVar

from arena.errors import DataError, WorkerError, clip
from arena.kit.process import block_sigint_in_children
from arena.plugins import Registry, load, loaded_files

__all__ = ["EXECUTORS", "Executor", "Local", "kill_processes", "make_executor"]


T = TypeVar("T")
R = TypeVar("R")


class Executor(ABC):
    """Runs a function over tasks in parallel.

    Args:
        workers: Number of tasks at once; None only for a remote executor, for as many as the
            cluster has room for.
    """

    remote: ClassVar[bool] = False
    """Whether the workers may be on other machines."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is None and not self.remote:
            workers = 1
        if workers is not None and (type(workers) is not int or workers < 1):
            raise DataError(f"workers={clip(workers)}: give at least 1.")
        self._workers = workers

    @property
    def workers(self) -> int:
        """Number of tasks that run at once."""
        return self._workers or 1

    @abstractmethod
    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it completes, in any order.

        The function is of a module's top level. It writes its files to a file system that all
        machines share, and publishes only complete ones: it may be killed, and a remote executor
        may run a task twice, even at the same time, if it loses a machine. Tasks are picklable,
        name their own results and are taken one by one as workers become free. If the first one has
        the attribute ``directory``, a remote executor checks that every machine sees that
        directory.
        """

    @abstractmethod
    def close(self) -> None:
        """Kill all workers and the tasks that they are at."""


EXECUTORS: Registry[type[Executor]] = Registry("executor")
executor = EXECUTORS.register
"""Decorator: ``@executor("name")``."""


def make_executor(name: str, workers: int | None) -> Executor:
    """Return the executor registered as `name`; None workers are one, or as many as fit."""
    return EXECUTORS.find(name)(workers)


def limit_threads() -> None:
    """Keep libraries, loaded already or later, from starting threads of their own.

    There already is a process for every processor.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    threadpool_limits(1)  # a spawned process imports the caller's script first, and with it numpy


_PR_SET_PDEATHSIG = 1
_QUEUED = 2  # submitted tasks per process, so that no process waits for its next task


@executor("local")
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
                self.workers,
                context,
                initializer=_start_worker,
                initargs=(os.getpid(), loaded_files()),
            )
        futures: set[Future[R]] = set()
        try:
            while True:
                for task in islice(queue, _QUEUED * self.workers - len(futures)):
                    with block_sigint_in_children():  # submitting may start a process
                        futures.add(self._pool.submit(function, task))
                if not futures:
                    break
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    futures.remove(future)
                    yield future.result()
        except BrokenProcessPool:
            self.close()
            raise WorkerError(
                "a worker process of this build has ended; it may have been killed for want of "
                "memory. The same command continues; give it fewer --workers or less --memory."
            ) from None
        finally:
            if futures:
                self.close()

    def close(self) -> None:
        """Kill all worker processes without waiting for their tasks."""
        pool, self._pool = self._pool, None
        if pool is not None:
            kill_processes(pool)


def kill_processes(pool: ProcessPoolExecutor) -> None:
    """Kill the processes of a pool, and what they are at."""
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown(cancel_futures=True)


def _start_worker(parent: int, files: list[str]) -> None:
    """Load the plug-ins, and make this process end when `parent` ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call above
        os._exit(1)
    limit_threads()
    load(files)
