"""Several calls side by side, in threads that Ctrl-C does not wait for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """Raised by a call that gave up because another one failed."""


def do_all(calls: Sequence[Callable[[threading.Event], T]], parallel: int) -> list[T]:
    """Return the results of `calls` in their order; each is given an event that says: stop.

    After the first exception no further call begins.

    Raises:
        Exception: that of the call that stands first, of those that failed.
    """
    stopped = threading.Event()
    if len(calls) <= 1:
        return [call(stopped) for call in calls]
    waiting = iter(range(len(calls)))
    results: dict[int, T] = {}
    failed: dict[int, Exception] = {}
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()
    lock = threading.Lock()

    def work() -> None:
        try:
            while not stopped.is_set():
                with lock:
                    place = next(waiting, None)
                if place is None:
                    return
                try:
                    results[place] = calls[place](stopped)
                except StoppedError:
                    return
                except Exception as error:
                    failed[place] = error
                    stopped.set()
        finally:
            ended.put(None)

    # Not an executor: at its end the interpreter waits for the threads of those, and a model may
    # take minutes.
    threads = min(parallel, len(calls))
    try:
        for _ in range(threads):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(threads):
            ended.get()
    finally:
        stopped.set()
    if failed:
        raise failed[min(failed)]
    return [results[place] for place in range(len(calls))]
