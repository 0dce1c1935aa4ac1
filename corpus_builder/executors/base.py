"""What runs the tasks of a build: the interface, its registry, and how a task runs in a worker."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar

from arena.errors import DataError, WorkerError, clip
from arena.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Runs a function over tasks in parallel; made as ``kind(workers)``."""

    remote: ClassVar[bool]
    """Whether the workers may be on other machines. A remote executor can be made with ``None``
    workers; it then uses as many as the cluster has room for."""

    @property
    def workers(self) -> int:
        """Number of tasks that run at once."""
        ...

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it completes, in any order.

        A remote executor may run a task twice, even at the same time, if it loses a machine.

        Args:
            function: A function of a module's top level. It writes its files to a file system
                that all machines share.
            tasks: Picklable tasks; each names its own result. They are taken one by one as workers
                become free. If the first task has the attribute ``directory``, a remote executor
                checks that every machine sees that directory.

        Raises:
            WorkerError: If workers are lost.
            Exception: Whatever the function or `tasks` raises; the other tasks are cancelled.
        """
        ...

    def close(self) -> None:
        """End all worker processes."""
        ...


EXECUTORS: Registry[Callable[[Any], Any]] = Registry(
    "executor", packages=["corpus_builder.executors"], entry_points="researcharena.executors"
)


def is_remote(name: str) -> bool:
    """Return whether an executor's workers may be on other machines.

    Raises:
        UnknownNameError: If no executor has that name.
    """
    return bool(getattr(EXECUTORS.get(name), "remote", False))


def make_executor(name: str, workers: int | None) -> Executor:
    """Return an executor.

    Args:
        name: Registered name of the executor.
        workers: Number of tasks at once; None for one, or for as many as a remote executor has
            room for.

    Raises:
        UnknownNameError: If no executor has that name.
        DataError: If the number is out of range, or a package is not installed.
    """
    if workers is None and not is_remote(name):
        workers = 1
    executor: Executor = EXECUTORS.get(name)(workers)
    return executor


def check_workers(workers: int) -> None:
    """Raise `DataError` unless `workers` is a positive integer."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise DataError(f"workers={clip(workers)}: give at least 1.")


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
            same = type(pickle.loads(pickle.dumps(error))) is type(error)
        except Exception:  # pickling can raise anything
            same = False
        if same:
            raise
        raise WorkerError(f"{type(error).__name__}: {clip(str(error), 300)}") from None
