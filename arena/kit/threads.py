"""Threads that carry out what an event loop awaits, and what arrives together as one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["Threads"]


class Threads:
    """Some threads, and a function that returns a result for each of several items, by key."""

    def __init__(self, count: int, together: Callable[[dict[Any, Any]], dict[Any, Any]]) -> None:
        self._pool, self._function = ThreadPoolExecutor(count, "session"), together
        self._batches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Batches] = WeakKeyDictionary()

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns; it runs in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, function, *arguments)

    async def run_batched(self, key: Any, item: Any) -> Any:
        """Return the result for an item.

        The function is given the items that arrived while it was busy with those before, so none
        waits for others to arrive. A later item of the same key replaces one whose call was
        cancelled.
        """
        loop = asyncio.get_running_loop()
        if (batches := self._batches.get(loop)) is None:
            batches = self._batches[loop] = _Batches()
        batches.items[key] = item
        if batches.next is None:
            batches.next = loop.create_task(self._carry_out(batches))
        return (await asyncio.shield(batches.next))[key]

    async def _carry_out(self, batches: _Batches) -> dict[Any, Any]:
        async with batches.turn:
            items, batches.items, batches.next = batches.items, {}, None
            return dict(await self.run(self._function, items))


class _Batches:
    """The calls that wait for the batch that is being carried out."""

    def __init__(self) -> None:
        self.turn, self.items = asyncio.Lock(), dict[Any, Any]()
        self.next: asyncio.Task[dict[Any, Any]] | None = None
