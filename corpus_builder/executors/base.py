"""What runs the tasks of a build: the interface, its registry, and how a task runs in a worker."""

from __future__ import annotations

import os
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from arena.errors import DataError, WorkerError, clip
from arena.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


class Executor(ABC):
    """Runs a function over tasks in parallel.

    Args:
        workers: Number of tasks at once; None only for a remote executor, for as many as the
            cluster has room for.

    Raises:
        DataError: If the number is out of range.
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

        A remote executor may run a task twice, even at the same time, if it loses a machine.

        Args:
            function: A function of a module's top level. It writes its files to a file system
                that all machines share, and publishes only complete ones: it may be killed.
            tasks: Picklable tasks; each names its own result. They are taken one by one as workers
                become free. If the first task has the attribute ``directory``, a remote executor
                checks that every machine sees that directory.

        Raises:
            WorkerError: If workers are lost.
            Exception: Whatever the function or `tasks` raises; the other tasks are cancelled.
        """

    @abstractmethod
    def close(self) -> None:
        """Kill all workers and the tasks that they are at."""


EXECUTORS: Registry[type[Executor]] = Registry(
    "executor", packages=["corpus_builder.executors"], entry_points="researcharena.executors"
)


def make_executor(name: str, workers: int | None) -> Executor:
    """Return the executor registered as `name`; None workers are one, or as many as there is room.

    Raises:
        UnknownNameError: If no executor has that name.
        DataError: If the number is out of range, or a package is not installed.
    """
    return EXECUTORS.get(name)(workers)


def limit_threads() -> None:
    """Keep libraries that this process loads later from starting threads of their own.

    There already is a process for every processor.
    """
    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):
        os.environ[f"{library}_NUM_THREADS"] = "1"


def perform(function: Callable[[T], R], task: T) -> R:
    """Return ``function(task)`` in a worker process.

    Raises:
        WorkerError: If the function raises an error that cannot be pickled and read back.
        Exception: Any other error that the function raises.
    """
    try:
        return function(task)
    except Exception as error:
        try:
            same: Any = type(pickle.loads(pickle.dumps(error))) is type(error)
        except Exception:  # pickling can raise anything
            same = False
        if same:
            raise
        raise WorkerError(f"{type(error).__name__}: {clip(str(error), 300)}") from None
