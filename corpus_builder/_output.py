"""Which output directory a build may take or replace."""

from __future__ import annotations

import json
import os
from glob import escape
from pathlib import Path, PurePosixPath

from arena._internal.workdir import other_files
from arena.corpus import layout
from arena.errors import CorpusError, clip


def check_output(output: Path, overwrite: bool) -> None:
    """Check that a build may write `output`.

    Args:
        output: The output directory.
        overwrite: Accept a directory that holds a corpus.

    Raises:
        CorpusError: If `output` is a file, holds a corpus and `overwrite` is false, holds
            anything else, or has a name that DuckDB does not accept.
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
    others = other_files(output, map(escape, corpus))
    if others:  # never delete what is not ours
        raise CorpusError(
            f"{str(output)!r} holds other files, {clip(others[0])} for one. "
            "Name a new or empty directory."
        )


def _corpus_names(directory: Path) -> set[str]:
    """Return the top-level names of the corpus in `directory`, or an empty set."""
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
