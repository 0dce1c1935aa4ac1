"""The processes of a Ray cluster: the executor named ``ray``. See docs/building-on-ray.md."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, ClassVar, TypeVar

from arena.errors import DataError, WorkerError, clip
from corpus_builder.executors._outcome import one_thread, perform
from corpus_builder.executors.base import EXECUTORS

T = TypeVar("T")
R = TypeVar("R")

MEMORY = 500 * 10**6
"""Bytes that a task asks its node for."""

_RETRIES = 3  # of a task whose node or process was lost
_POLL = 1.0  # seconds after which new nodes are looked for


@EXECUTORS.register("ray")
class Ray:
    """Processes of a Ray cluster, which may be on many machines."""

    remote: ClassVar[bool] = True

    def __init__(self, workers: int | None = None) -> None:
        """Check what can be checked without a cluster; the first `run` connects.

        Args:
            workers: tasks at once; None: as many as the cluster has processors at the time.

        Raises:
            DataError: if Ray is not installed, or the number is out of its range.
        """
        if workers is not None and (
            isinstance(workers, bool) or not isinstance(workers, int) or workers < 1
        ):
            raise DataError(f"workers={clip(workers)}: give at least 1.")
        if importlib.util.find_spec("ray") is None:
            raise DataError(
                "the executor ray needs the package 'ray', which is not installed. "
                "Run: pip install 'researcharena[ray]'"
            )
        self._asked = workers
        self._ray: Any = None
        self._close: Callable[[], None] | None = None
        self._checked = False

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        if self._asked is not None:
            return self._asked
        return max(1, int(self._connected().cluster_resources().get("CPU", 1)))

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it comes, in any order."""
        left = iter(tasks)
        first = list(islice(left, 1))
        if not first:
            return
        ray = self._connected()
        if not self._checked:
            from corpus_builder.executors._ray_nodes import check_nodes

            check_nodes(ray, getattr(first[0], "directory", None), MEMORY)
            self._checked = True
        call = ray.remote(num_cpus=1, memory=MEMORY, max_retries=_RETRIES)(_perform)
        # One copy in the cluster's memory, whatever the number of tasks.
        shared = ray.put(function)
        left = chain(first, left)
        waiting: list[Any] = []
        try:
            while True:
                room = max(0, self.workers - len(waiting))
                waiting += [call.remote(shared, task) for task in islice(left, room)]
                if not waiting:
                    break
                done, waiting = ray.wait(waiting, timeout=_POLL)
                for reference in done:
                    yield _result(ray, reference)
        finally:
            for reference in waiting:  # a killed process leaves nothing half-written in sight
                ray.cancel(reference, force=True)

    def close(self) -> None:
        """Leave the cluster; end it if it is our own."""
        if self._close is not None:
            self._close()
        self._ray, self._close, self._checked = None, None, False

    def _connected(self) -> Any:
        if self._ray is None:
            from corpus_builder.executors._ray_cluster import connect

            self._ray, self._close = connect(self._asked, MEMORY)
        return self._ray


def _perform(function: Callable[[Any], Any], task: Any) -> Any:
    one_thread()
    return perform(function, task)


def _result(ray: Any, reference: Any) -> Any:
    try:
        outcome = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        reason = (str(error.cause).strip() or type(error.cause).__name__).splitlines()[0]
        raise WorkerError(
            f"a node of the Ray cluster cannot perform a task: {clip(reason, 300)}"
        ) from None
    except ray.exceptions.RayError as error:
        raise WorkerError(
            f"the Ray cluster lost a task {_RETRIES + 1} times ({type(error).__name__}); its "
            "processes may have been killed for want of memory. The same command goes on; give "
            "it fewer --workers, or look at the nodes with `ray status`."
        ) from None
    return outcome.get()
