"""Exceptions while one answer is scored: what they say, and which of them are the answer's."""

from __future__ import annotations

import traceback
from pathlib import Path

from arena.errors import ArenaError, UnreadableError, clip
from arena.plugins import loaded_files


def failure(error: BaseException) -> str:
    """Return the kind, the message and the line of an exception, of a plug-in's own folder."""
    frame = (plug_in_frames(error) or traceback.extract_tb(error.__traceback__))[-1]
    place = f"{Path(frame.filename).name} line {frame.lineno}"
    return f"{type(error).__name__}: {clip(str(error), 200)} ({place})"


def plug_in_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of an exception in the folders of files that `load_file` loaded."""
    folders = {Path(file).parent for file in loaded_files()}
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if Path(frame.filename).parent in folders]


def scoring_failure(error: Exception) -> str:
    """Return what `failure` says of an exception while an answer was scored.

    Raise the exception again if it is no fault of the answer: bad input, the machine's, a missing
    package, or a plug-in's. An answer that cannot be read is one.
    """
    others = (ArenaError, OSError, ImportError, MemoryError)
    ours = isinstance(error, others) and not isinstance(error, UnreadableError)
    if ours or plug_in_frames(error):
        raise error
    return failure(error)
