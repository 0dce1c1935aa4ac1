"""What runs the tasks of a build."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from arena.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Runs a function over tasks, side by side; made as ``kind(workers)``."""

    workers: int
    """How many tasks run at once."""

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Yield the result of each task as it comes, in any order.

        Args:
            function: of a module's top level; what it writes, it writes to files that all
                machines see.
            tasks: can be pickled; each names its own result.

        Raises:
            Exception: what the function raises; the other tasks are given up.
        """
        ...

    def close(self) -> None:
        """End all processes."""
        ...


EXECUTORS: Registry[Callable[[int], Any]] = Registry(
    "executor", packages=["corpus_builder.executors"], entry_points="researcharena.executors"
)
