"""The executor ``ray``: workers of a Ray cluster. See docs/building.md."""

from __future__ import annotations

import pickle
import platform
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arena.errors import WorkerError, clip
from arena.executors import Executor, executor, limit_threads
from arena.kit.lazy import require
from arena.plugins import load, loaded_files
from arena_engines.cluster import check_same, connected, versions

T = TypeVar("T")
R = TypeVar("R")

MEMORY = 500 * 10**6
"""Bytes of memory that each task reserves on its node."""
DISTRIBUTIONS = ("PyStemmer", "duckdb", "numba", "numpy", "orjson", "pyarrow", "regex")
"""Distributions whose version can change the bytes of a file, or a score."""
_RETRIES = 3  # of a task whose node or process was lost
_POLL = 1.0  # seconds after which new nodes are looked for
_PATIENCE = 10.0  # seconds until a node must see a new file; NFS caches directories


@executor("ray")
class Ray(Executor):
    """Workers of a Ray cluster, which may be on many machines.

    Args:
        workers: Number of tasks at once; None for as many as the cluster has processors.
    """

    remote: ClassVar[bool] = True

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        require("the executor ray", "ray")
        self._pending: list[Any] = []

    @property
    def workers(self) -> int:
        """Number of tasks that run at once."""
        return self._workers or max(1, int(connected().cluster_resources().get("CPU", 1)))

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task as it completes, in any order."""
        queue = iter(tasks)
        first = next(queue, None)
        if first is None:
            return
        queue = chain([first], queue)
        ray = connected()
        check_capacity(ray.nodes(), MEMORY)
        with _probe_file(getattr(first, "directory", None)) as probe:
            call = ray.remote(num_cpus=1, memory=MEMORY, max_retries=_RETRIES)(run_on_node)
            # One copy in the cluster's memory, whatever the number of tasks.
            pickled = ray.cloudpickle.dumps(function)
            shared = ray.put((versions(*DISTRIBUTIONS), probe, loaded_files(), pickled))
            try:
                while True:
                    for task in islice(queue, max(0, self.workers - len(self._pending))):
                        self._pending.append(call.remote(shared, ray.cloudpickle.dumps(task)))
                    if not self._pending:
                        break
                    done, self._pending = ray.wait(self._pending, timeout=_POLL)
                    for reference in done:
                        yield _result(ray, reference)
            finally:
                self._cancel()

    def close(self) -> None:
        """Kill the tasks."""
        self._cancel()

    def _cancel(self) -> None:
        for reference in self._pending:
            connected().cancel(reference, force=True)
        self._pending = []


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except (ray.exceptions.RayTaskError, ray.exceptions.UnserializableException) as error:
        if isinstance(cause := getattr(error, "cause", None), Exception):
            raise cause from None
        last = str(error).strip().splitlines()[-1]  # of its stack trace
        raise WorkerError(f"a task failed on the Ray cluster: {clip(last, 300)}") from None
    except ray.exceptions.RayError as error:
        raise WorkerError(
            f"the Ray cluster lost a task {_RETRIES + 1} times ({type(error).__name__}); its "
            "processes may have been killed for want of memory. The same command continues; give "
            "it fewer --workers, or look at the nodes with `ray status`."
        ) from None


def run_on_node(
    shared: tuple[dict[str, str], tuple[str, str] | None, list[str], bytes], task: bytes
) -> Any:
    """Run a pickled function on a pickled task, if this node is fit for it.

    What the tasks share are the versions that every node must have, a file with its content that
    it must see, the plug-ins to load, and the function.
    """
    known, probe, files, function = shared
    check_same(known, versions(*DISTRIBUTIONS))
    deadline = time.monotonic() + _PATIENCE
    while probe is not None and not _is_visible(*probe):
        if time.monotonic() > deadline:
            raise WorkerError(
                f"the Ray node {platform.node()} does not share {str(Path(probe[0]).parent)!r} "
                "with this machine. Put input and output on a file system that all nodes see, "
                "under the same path."
            )
        time.sleep(0.2)
    limit_threads()
    load(files)
    return pickle.loads(function)(pickle.loads(task))


def _is_visible(path: str, token: str) -> bool:
    try:
        return Path(path).read_text(encoding="ascii") == token
    except OSError:
        return False


def check_capacity(nodes: list[dict[str, Any]], memory: int) -> None:
    """Raise `WorkerError` if no node has room for a task: Ray would wait for ever."""
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    if not any(r.get("CPU", 0) >= 1 and r.get("memory", 0) >= memory for r in alive):
        raise WorkerError(
            f"none of the {len(alive)} nodes of the Ray cluster has a processor and "
            f"{memory // 10**6} MB of memory for a task. See `ray status`."
        )


@contextmanager
def _probe_file(directory: Path | None) -> Iterator[tuple[str, str] | None]:
    """Write a file into the nearest existing parent of `directory`; yield its path and content."""
    if directory is None:
        yield None
        return
    token = secrets.token_hex(16)
    parent = next(path for path in (directory, *directory.parents) if path.is_dir())
    probe = parent / f".probe-{token}"
    probe.write_text(token, encoding="ascii")
    try:
        yield str(probe), token
    finally:
        probe.unlink(missing_ok=True)
