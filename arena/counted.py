"""Regular expressions that count their work, for what reads the texts of models and people.

In a reader this module stands for `re`. Within `reading` each use costs the characters that it is
given, and a text above `STEPS` of them a character is too complex to read: a bound that is the same
on every machine, as no clock is. That a pattern itself takes few steps a character is what
tests/report/test_work.py checks.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from re import DOTALL, IGNORECASE, MULTILINE, I, Match, escape
from typing import TYPE_CHECKING, Any

from arena.errors import ArenaError, UnreadableError

__all__ = [
    "DOTALL", "IGNORECASE", "MULTILINE", "I", "Match", "Pattern", "compile", "escape", "findall",
    "finditer", "fullmatch", "match", "search", "split", "sub",
]  # fmt: skip

STEPS = 200
"""Most steps a character."""
_FREE = 50_000  # of a text of any length

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


class ReaderDefectError(UnreadableError):
    """A text that a reader fails at, by a defect of its own; the message says where."""


@contextmanager
def reading(text: str | None = None) -> Iterator[None]:
    """Count the work of reading a text, and let nothing but an `ArenaError` out.

    Without a text, such as for values of JSON, nothing is counted.

    Raises:
        UnreadableError: The text is too complex to read.
        ReaderDefectError: An exception that is no fault of the text.
    """
    token = _left.set(None if text is None else [STEPS * len(text) + _FREE])
    try:
        yield
    except ArenaError:
        raise
    except Exception as error:
        raise unreadable(error) from error
    finally:
        _left.reset(token)


def unreadable(error: Exception) -> UnreadableError:
    """Return the error that says at which exception a reader failed."""
    from arena.failures import scoring_failure

    if isinstance(error, RecursionError):
        return too_complex()
    what = scoring_failure(error)
    return ReaderDefectError(f"a defect of the reader: {what}. Write it otherwise.")


def too_complex() -> UnreadableError:
    """Return the error for a text that takes too many steps, or has too many levels."""
    return UnreadableError("the text is too complex to read: write it more plainly.")


def spend(steps: int) -> None:
    """Count steps of the text that is read."""
    if (left := _left.get()) is not None:
        left[0] -= steps
        if left[0] < 0:
            raise too_complex()


if TYPE_CHECKING:
    from re import Pattern, compile, findall, finditer, fullmatch, match, search, split, sub
else:

    class Pattern:
        """A pattern with the attributes of `re.Pattern`; its methods count."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.compiled = re.compile(pattern, flags)

        def __getattr__(self, name: str) -> Any:
            method, place = getattr(self.compiled, name), int(name in ("sub", "subn"))
            if not callable(method):
                return method

            def counted(*arguments: Any, **named: Any) -> Any:
                found = method(*arguments, **named)
                start, end = (*arguments[place + 1 :], 0, 0)[:2] if not place else (0, 0)
                end = min(end or sys.maxsize, len(arguments[place]))
                if name == "match" or (name == "search" and found):
                    end = found.end() if found else start
                spend(1 + end - start)
                return found

            setattr(self, name, counted)
            return counted

    compile = functools.cache(Pattern)

    def _function(name: str) -> Any:
        return lambda pattern, *arguments: getattr(compile(pattern), name)(*arguments)

    match, search, fullmatch = map(_function, ("match", "search", "fullmatch"))
    finditer, findall, split, sub = map(_function, ("finditer", "findall", "split", "sub"))
