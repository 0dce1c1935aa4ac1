"""What each run is called in a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip

_LONGEST = 80


def split_name(text: str | Path) -> tuple[str | None, str | Path]:
    """Return (name, directory) of ``NAME=DIR``; (None, directory) where no name is given.

    >>> split_name("ours=runs/scout"), split_name("runs/scout")
    (('ours', 'runs/scout'), (None, 'runs/scout'))
    """
    if not isinstance(text, str) or "=" not in text or _exists(text):
        return None, text
    name, _, directory = text.partition("=")
    return name.strip(), directory


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long for a file, but not for a run
        return False


def name_runs(
    given: Sequence[str | None], directories: Sequence[Path], manifests: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return a name for each run: that given, else agent and retriever, else its directory's.

    Raises:
        DataError: if two runs lie in one directory, or no names tell them apart.
    """
    places = [directory.resolve() for directory in directories]
    for place, directory in zip(places, directories, strict=True):
        if places.count(place) > 1:
            raise DataError(f"the run {str(directory)!r} is given twice. Name each run once.")
    for name in given:
        if name is not None and (not name or len(name) > _LONGEST or not name.isprintable()):
            raise DataError(
                f"{clip(name)} cannot name a run: write NAME=DIR with 1 to {_LONGEST} characters."
            )
        if name is not None and (name == "ceiling" or name.endswith("(baseline)")):
            raise DataError(f"{clip(name)} cannot name a run: the tables call a row of theirs so.")
    played = [f"{m['agent']}, {m['environment']['retriever']}" for m in manifests]
    for candidates in (played, [place.name for place in places]):
        names = [name or other for name, other in zip(given, candidates, strict=True)]
        if len(set(names)) == len(names):
            return names
    twice = sorted({name for name in names if names.count(name) > 1})
    raise DataError(f"several runs are called {clip(twice[0])}. Name them: NAME=DIR.")
