"""What is computed once, by whichever thread asks first."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - used as a decorator, like functools.cached_property
    """`functools.cached_property` with a lock, which that has lost in Python 3.12.

    Threads that ask the same object at the same time wait for the first one; what raises is tried
    again by the next.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]
        kept = instance.__dict__  # once the value is there, Python finds it without coming here
        # By process: a lock that another thread held during a fork is never released in the child.
        with kept.setdefault(f"_once in {os.getpid()}", threading.RLock()):
            if self._name not in kept:
                kept[self._name] = self._function(instance)
        return kept[self._name]  # type: ignore[no-any-return]
