"""The output directory of a build: it appears whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from arena._internal.workdir import only_writer
from arena.corpus import layout
from arena.errors import CorpusError, clip
from corpus_builder._place import REPLACED, put, restore, sync

_NEW = "corpus"


@contextmanager
def whole_directory(output: Path, overwrite: bool) -> Iterator[Path]:
    """Lend an empty directory that becomes `output` when the block succeeds.

    It lies in ``.<name>.building`` beside `output`. A build that fails or is interrupted removes
    that; one that is killed leaves it behind, and the next build clears it.

    Raises:
        CorpusError: if `output` exists and may not be replaced, or another build writes it now.
    """
    output = Path(os.path.realpath(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    building = output.with_name(f".{output.name}.building")
    with only_writer(output.with_name(f"{building.name}.lock"), output):
        restore(building, output)
        check_output(output, overwrite)
        _clear(building)
        new = building / _NEW
        new.mkdir(parents=True)
        try:
            yield new
            sync(new)
            check_output(output, overwrite)  # something else may have come there meanwhile
            put(new, output)
        finally:
            _clear(building)


def check_output(output: Path, overwrite: bool) -> None:
    """Refuse, before any work, an output that a build would have to destroy.

    Raises:
        CorpusError: if `output` is a file, holds a corpus and `overwrite` is false, holds
            anything else, or has a name that DuckDB cannot take.
    """
    path = os.path.realpath(output)
    if "\\" in path or not _is_unicode(path):
        raise CorpusError(
            f"{path!a}: a corpus cannot be built below a name with a backslash or with bytes "
            "that are no UTF-8. Name another directory."
        )
    if not output.exists():
        return
    if not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    corpus = _corpus_names(output)
    if corpus and not overwrite:
        raise CorpusError(
            f"{str(output)!r} already holds a corpus. Pass --overwrite to replace it."
        )
    others = sorted({path.name for path in output.iterdir()} - corpus)
    if others:  # never delete what is not ours
        raise CorpusError(
            f"{str(output)!r} holds other files, {clip(others[0])} for one. "
            "Name a new or empty directory."
        )


def _corpus_names(directory: Path) -> set[str]:
    """Return what may stand in the corpus in `directory`; nothing if it holds none."""
    try:
        manifest = json.loads((directory / layout.MANIFEST).read_bytes())
        if "content_sha256" not in manifest:
            return set()
        return {
            layout.MANIFEST,
            layout.INDEXES,
            layout.CARD,
            layout.CARD_BUILDING,
            *(PurePosixPath(name).parts[0] for name in manifest["files"]),
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return set()


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _clear(building: Path) -> None:
    """Remove what a build has left.

    Raises:
        CorpusError: if anything else is there.
    """
    if not building.exists():
        return
    others = sorted({path.name for path in building.iterdir()} - {_NEW, REPLACED})
    if others:
        raise CorpusError(
            f"{str(building)!r} holds other files, {clip(others[0])} for one; a build needs that "
            "name. Move them or name another directory."
        )
    for name in (_NEW, REPLACED):
        # First what makes it open: a kill halfway leaves nothing that passes for a corpus.
        (building / name / layout.MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(building / name, ignore_errors=True)
    with suppress(OSError):
        building.rmdir()
