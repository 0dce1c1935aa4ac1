"""Counts the steps of a reader: those of its patterns and its calls."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from steps import steps_of_use

from arena import counted
from arena.errors import DataError


def forget() -> None:
    """Let all patterns make their methods again."""
    for each in gc.get_objects():
        if isinstance(each, counted.Pattern):
            for name in [*vars(each)]:
                if name != "compiled":
                    delattr(each, name)


def work(read: Callable[[str], Any], text: str) -> Counter[str]:
    """Return the steps that each pattern takes, and ``calls``, those of functions."""
    found = Counter[str]()
    most = 3000 * len(text)
    plain = counted.Pattern.__getattr__

    def observed(self: Any, name: str) -> Any:
        made = plain(self, name)
        if not callable(made):
            return made

        def use(*arguments: Any, **named: Any) -> Any:
            key = self.compiled.pattern
            if found[key] <= most:
                sys.setprofile(None)
                found[key] += steps_of_use(self.compiled, name, *arguments, most=most)
                sys.setprofile(count)
            return made(*arguments, **named)

        setattr(self, name, use)
        return use

    def count(frame: Any, event: str, argument: Any) -> None:
        found["calls"] += 1

    forget()
    counted.Pattern.__getattr__ = observed
    sys.setprofile(count)
    try:
        read(text)
    except DataError:
        pass
    finally:
        sys.setprofile(None)
        counted.Pattern.__getattr__ = plain
        forget()
    return found
