"""The integrity of a corpus: files are compared with the hashes in their manifest.

A file is hashed when it is first opened on a machine. Its size, times and inode are then remembered
in the user's cache folder, so that the next opening costs a `stat`. The arrays that decide which
papers a cutoff reaches are small and are hashed at every opening.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from arena.errors import CorpusError, DataError
from arena.kit.files import atomic_write, read_json, sha256_file
from arena.kit.process import cores
from arena.kit.terminal import progress

_SETTLED = 50_000_000
"""Nanoseconds after which a change of a file shows in its times, whatever clock they come from."""


def cache_directory() -> Path:
    """Return the folder of the project's caches; the variable ``ARENA_CACHE`` moves it."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "researcharena"
    return Path(os.environ.get("ARENA_CACHE") or usual).expanduser()


def require_intact(
    directory: Path,
    files: Mapping[str, Mapping[str, Any]],
    *,
    names: Collection[str] | None = None,
    always: Collection[str] = (),
) -> None:
    """Compare the files of a corpus or an index with the hashes in its manifest.

    Files named in `names` are compared, by default all; those in `always` are hashed even if they
    were compared before.
    """
    place = hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]
    cache = cache_directory() / "checked" / f"{place}.json"
    known, stamps = _read(cache), {}
    for name in files if names is None else names:
        stat = (directory / name).stat()
        numbers = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev]
        stamps[name] = [*numbers, files[name]["sha256"]]
    todo = [name for name in stamps if name in always or known.get(name) != stamps[name]]
    with ThreadPoolExecutor(cores()) as pool:
        hashes = pool.map(sha256_file, [directory / name for name in todo])
        shown = progress(hashes, total=len(todo), desc="check", unit="file")
        for name, sha256 in zip(todo, shown, strict=True):
            if sha256 != files[name]["sha256"]:
                raise CorpusError(
                    f"{str(directory / name)!r} is damaged: its content is not what was built. "
                    "Build it again, or copy it again.",
                    directory,
                )
    settled = time.time_ns() - _SETTLED
    new = {name: stamps[name] for name in todo if max(stamps[name][1:3]) < settled}
    kept = {name: stamp for name, stamp in known.items() if name in files} | new
    if kept != known:
        with suppress(OSError, DataError):  # without a cache every opening compares all files
            cache.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(cache, json.dumps(kept))


def _read(cache: Path) -> dict[str, Any]:
    with suppress(ValueError):
        if isinstance(known := read_json(cache), dict):
            return known
    return {}
