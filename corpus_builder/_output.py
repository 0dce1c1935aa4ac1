"""The output directory of a build: it appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena import layout
from arena._lock import only_writer
from arena.errors import CorpusError


@contextmanager
def whole_directory(output: Path, overwrite: bool) -> Iterator[Path]:
    """Lend an empty directory beside `output` that becomes `output` when the block succeeds.

    A build that fails or is interrupted removes it; one that is killed leaves
    ``<output>.building`` behind, which holds no manifest, never opens, and is cleared by the
    next build.

    Raises:
        CorpusError: if `output` exists and may not be replaced, or another build writes it now.
    """
    output = output.absolute()
    check_output(output, overwrite)
    building = output.with_name(output.name + ".building")
    output.parent.mkdir(parents=True, exist_ok=True)
    with only_writer(output.with_name(f".{output.name}.lock"), output):
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        try:
            yield building
            _sync(building)
            if output.exists():
                replaced = output.with_name(output.name + ".building.replaced")
                shutil.rmtree(replaced, ignore_errors=True)
                output.rename(replaced)
                building.rename(output)
                shutil.rmtree(replaced)
            else:
                building.rename(output)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def check_output(output: Path, overwrite: bool) -> None:
    """Refuse, before any work, an output that a build would have to destroy.

    Raises:
        CorpusError: if `output` is a file, holds a corpus and `overwrite` is false, or holds
            anything else.
    """
    if not output.exists():
        return
    if not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    if (output / layout.MANIFEST).is_file():
        if not overwrite:
            raise CorpusError(
                f"{str(output)!r} already holds a corpus. Pass --overwrite to replace it."
            )
    elif any(output.iterdir()):  # never delete what is not ours
        raise CorpusError(f"{str(output)!r} holds other files. Name a new or empty directory.")


def _sync(directory: Path) -> None:
    """Make the files reach the disk before the rename does."""
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
