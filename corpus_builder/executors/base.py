"""What runs the tasks of a build."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar

from arena.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Runs a function over tasks, side by side; made as ``kind(workers)``."""

    remote: ClassVar[bool]
    """Whether its processes may be on other machines: what this one has says nothing of how many
    fit; it may be made with ``None`` workers, and takes as many as there is room for."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        ...

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it comes, in any order.

        A task may be run twice, even at the same time, where a machine was lost.

        Args:
            function: of a module's top level; what it writes, it writes to files that all
                machines see.
            tasks: can be pickled; each names its own result. Taken one by one as processes come
                free, never many ahead. If the first has the attribute ``directory``, where files
                go, an executor of several machines looks whether all of them see it.

        Raises:
            WorkerError: if the processes are lost.
            Exception: what the function or `tasks` raises; the other tasks are given up.
        """
        ...

    def close(self) -> None:
        """End all processes."""
        ...


EXECUTORS: Registry[Callable[[Any], Any]] = Registry(
    "executor", packages=["corpus_builder.executors"], entry_points="researcharena.executors"
)


def is_remote(name: str) -> bool:
    """Return whether an executor's processes may be on other machines.

    Raises:
        UnknownNameError: if there is none of that name.
    """
    return bool(getattr(EXECUTORS.get(name), "remote", False))


def make_executor(name: str, workers: int | None) -> Executor:
    """Return an executor.

    Args:
        name: under which it is registered.
        workers: tasks at once; None for one, or for as many as a remote executor has room for.

    Raises:
        UnknownNameError: if there is none of that name.
        DataError: if the number is out of its range, or a package is absent.
    """
    if workers is None and not is_remote(name):
        workers = 1
    executor: Executor = EXECUTORS.get(name)(workers)
    return executor
