"""Errors a person reads: what happened, the value, the nearest valid names, what to do."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from contextlib import suppress
from numbers import Real
from pathlib import Path


class ArenaError(Exception):
    """A mistake in the input, in one line. The command line prints it and exits with 2."""


class UnknownNameError(ArenaError, KeyError):
    """A name that no registry, task set or table has."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class UnknownPaperError(UnknownNameError):
    """An id that is not visible: unknown, too late, undated, a survey, or excluded.

    The message is the same for all of these, so that asking reveals nothing.
    """


class DataError(ArenaError, ValueError):
    """Input data that cannot be what it claims to be."""


class UnreadableError(DataError):
    """A text that is too complex to read, or that a reader fails at; no fault of what runs it."""


class NoLabelsError(DataError):
    """A corpus without a topic that has the labels a task is scored by."""


class CorpusError(ArenaError):
    """A directory that is not a usable built corpus or index.

    Attributes:
        parts: Directories of the corpus, index or digests that have to be built (again), if these
            help; the command line names the commands.
    """

    def __init__(self, message: str = "", *parts: Path) -> None:
        super().__init__(message)
        self.parts = parts


class AgentError(ArenaError):
    """An agent whose code raises an error, ends the process or returns what it must not."""


class WorkerError(ArenaError):
    """A process that works for this one has ended, or cannot be used from here."""


def clip(value: object, limit: int = 80) -> str:
    """Return ``repr(value)`` cut to `limit` characters, for use in a message."""
    if isinstance(value, str | bytes | list | tuple):
        value = value[:limit]
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of 5,000 digits, many levels
        return f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def returned(who: str, value: object, wanted: str) -> DataError:
    """Return the error of a plug-in that returned what its kind must not return."""
    return DataError(f"{who} returned {clip(value)}. It must return {wanted}.")


def finite(value: object) -> float | None:
    """Return a finite number as JSON can hold it, numpy's too; None for everything else."""
    with suppress(OverflowError):  # of an integer of 400 digits
        if isinstance(value, Real) and math.isfinite(value):
            return value if isinstance(value, int | float) else float(value)
    return None


def first_line(error: Exception) -> str:
    """Return the first line of an error of a library, cut by `clip`."""
    return clip((str(error).strip() or type(error).__name__).splitlines()[0], 160)


# Names of release 0.9 that people and files have: of commands, options, settings, reset keys, tasks
# and environments alone. docs/renamed.md lists them for people.
_RENAMED = {
    "survey": ("topic_id", "topic", "pipeline"),
    "surveys": ("topics", "topic_ids"),
    "--survey": ("--topic",),
    "--surveys": ("--topics",),
    "--most": ("--max-statements", "--max-tasks", "--max-sessions", "--max-surveys"),
    "most": ("max_statements", "max_tasks", "max_sessions", "max_surveys", "max_titles"),
    "arena/Survey-v0": ("arena/Pipeline-v0",),
    "survey_score": ("pipeline_score",),
    "per_survey": ("per_topic",),
    "world": ("synthetic",),
    "world-hard": ("synthetic-hard",),
    "world-measured": ("synthetic-measured",),
    "replay": ("verify",),
    "found": ("start_from", "run"),
    "show": ("paper_text",),
    "inputs": ("paper_texts",),
    "input": ("paper_text",),
}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'bm25'?"``, or the known names when none is near.

    >>> did_you_mean("bm52", ["bm25", "dense"])
    " Did you mean 'bm25'?"
    >>> did_you_mean("zzz", ["bm25", "dense"])
    ' Known: bm25, dense.'
    >>> did_you_mean("--surveys", ["--topics", "--corpus"])
    " It is called '--topics' now (docs/renamed.md)."
    """
    names = sorted(set(known))
    for new in _RENAMED.get(name, ()) if isinstance(name, str) else ():
        if new in names:
            return f" It is called {new!r} now (docs/renamed.md)."
    near = difflib.get_close_matches(name[:100], names, 3, 0.5) if isinstance(name, str) else []
    if near:
        return " Did you mean " + " or ".join(repr(n) for n in near) + "?"
    if not names:
        return " None is registered."
    shown = ", ".join(names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f" Known: {shown}{more}."
