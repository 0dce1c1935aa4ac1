"""What is known of labels: made for many at once, kept a label."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# While maps are scored: what the plug-ins that have no name have made of their labels.
_of_objects: ContextVar[dict[Any, Any] | None] = ContextVar("_of_objects", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Keep what encoders and extractors without a name make, for as long as this lasts.

    Not longer: an object of the caller may be changed between two scores.
    """
    if _of_objects.get() is not None:
        yield
        return
    token = _of_objects.set({})
    try:
        yield
    finally:
        _of_objects.reset(token)


class ByLabel(Generic[T]):
    """Values of labels by the plug-in that makes them; those of named plug-ins are kept.

    Any number of threads may ask, and a process may fork while one does: there is no lock, only
    `functools.lru_cache`.

    Args:
        make: (plug-in, distinct labels) -> one value a label.
        named: Returns the plug-in of a name.
        size: Values that are kept of all named plug-ins together, those used last.
    """

    def __init__(
        self,
        make: Callable[[Any, list[str]], Sequence[T]],
        named: Callable[[str], Any],
        size: int,
    ) -> None:
        self._make, self._named = make, named
        self._new = threading.local()
        self._kept = functools.lru_cache(size)(self._take)
        self.clear = self._kept.cache_clear

    def get(self, plugin: Any, labels: Sequence[str]) -> list[T]:
        """Return the value of each label.

        Args:
            plugin: A name, or a plug-in itself.
            labels: Repeated ones are made once.
        """
        distinct = list(dict.fromkeys(labels))
        found = self._by_name(plugin, distinct) if isinstance(plugin, str) else None
        if found is None:
            found = self._by_object(plugin, distinct)
        return [found[label] for label in labels]

    def _by_name(self, name: str, labels: list[str]) -> dict[str, T]:
        found, missing = {}, []
        for label in labels:
            try:
                found[label] = self._kept(name, label)
            except _NotKeptError:
                missing.append(label)
        if missing:
            made = self._make(self._named(name), missing)
            self._new.values = dict(zip(missing, made, strict=True))
            try:
                for label in missing:
                    found[label] = self._kept(name, label)
            finally:
                self._new.values = {}
        return found

    def _take(self, name: str, label: str) -> T:
        """Return a value that was just made; what raises is not kept, so that it is made then."""
        try:
            return self._new.values[label]  # type: ignore[no-any-return]
        except (AttributeError, KeyError):
            raise _NotKeptError from None

    def _by_object(self, plugin: Any, labels: list[str]) -> dict[str, T]:
        memory = _of_objects.get()
        if memory is None:
            return dict(zip(labels, self._make(plugin, labels), strict=True))
        # By identity: the caller holds the object for as long as the memory lasts.
        known: dict[str, T] = memory.setdefault((id(self), id(plugin)), {})
        missing = [label for label in labels if label not in known]
        if missing:
            known |= dict(zip(missing, self._make(plugin, missing), strict=True))
        return known


class _NotKeptError(Exception):
    pass
