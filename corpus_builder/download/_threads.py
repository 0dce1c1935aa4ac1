"""Threads that each take the next thing to do, and end soon when one fails or all shall."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

from corpus_builder.download._errors import FailedError, StoppedError
from corpus_builder.download._web import Web

T = TypeVar("T")
R = TypeVar("R")

_TICK = 0.2  # seconds
_FAREWELL = 2.0  # seconds in which threads that do not wait for the network end


class Done(Generic[T, R]):
    """Something that has been done: its result, or the error it ended with."""

    def __init__(self, item: T, result: R | None, error: BaseException | None) -> None:
        self.item, self._result, self.error = item, result, error

    def result(self) -> R:
        """Return the result or raise the error."""
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]


def in_threads(
    function: Callable[[Web, T], R],
    items: Sequence[T],
    parallel: int,
    make_web: Callable[[], Web],
    stop: threading.Event,
) -> Generator[Done[T, R] | None]:
    """Yield each item as it is done, in any order, and None about five times a second.

    An error other than `FailedError` sets `stop`, and so does a caller who closes the generator
    before its end.
    """
    waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
    finished: queue.SimpleQueue[Done[T, R]] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)

    def work() -> None:
        web = make_web()
        try:
            while not stop.is_set():
                try:
                    item = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    finished.put(Done(item, function(web, item), None))
                except StoppedError:
                    return
                except BaseException as error:
                    if not isinstance(error, FailedError):
                        stop.set()  # the next one would end no better
                    finished.put(Done(item, None, error))
        finally:
            web.close()

    # Daemons: one that waits for a dead connection must not keep Ctrl-C waiting, and what they
    # write can be gone on with at any moment.
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(parallel, len(items)))]
    for thread in threads:
        thread.start()
    left = len(items)
    try:
        while left:
            try:
                done = finished.get(timeout=_TICK)
            except queue.Empty:
                yield None
                continue
            left -= 1
            yield done
    finally:
        if left:
            stop.set()
        end = time.monotonic() + _FAREWELL
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
