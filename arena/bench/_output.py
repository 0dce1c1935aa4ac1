"""The directory of a benchmark: whose it is, and whether this one may go on in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena._internal.files import TEMPORARY_SUFFIX, write_json
from arena._internal.workdir import only_writer
from arena.errors import CorpusError

MANIFEST, PIECES, WORK = "manifest.json", "pieces", "work"
_LOCK = ".lock"


@contextmanager
def hold(output: Path, manifest: dict[str, Any], overwrite: bool) -> Iterator[dict[str, Any]]:
    """Hold `output` for this benchmark; yield its manifest, which an earlier start wrote."""
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    output.mkdir(parents=True, exist_ok=True)
    with only_writer(output / _LOCK, output):
        for path in output.rglob(f".*{TEMPORARY_SUFFIX}"):
            path.unlink()  # what a kill left of an atomic write
        before = _before(output)
        if before is not None:
            keys = [key for key in manifest if key != "commit" and manifest[key] != before[key]]
            if keys and not overwrite:
                told = [_differing(key, before[key], manifest[key]) for key in keys]
                raise CorpusError(
                    f"{str(output)!r} holds another benchmark (it differs in {', '.join(told)}). "
                    "Name another directory or pass --overwrite."
                )
            if overwrite:
                shutil.rmtree(output / PIECES, ignore_errors=True)
                shutil.rmtree(output / WORK, ignore_errors=True)
                before = None
        if before is None:
            write_json(output / MANIFEST, manifest)
        yield before or manifest


def _differing(key: str, before: Any, now: Any) -> str:
    if isinstance(now, dict) and isinstance(before, dict):
        return ", ".join(f"{k}" for k in now if now[k] != before.get(k))
    return key


def _before(output: Path) -> dict[str, Any] | None:
    if not {path.name for path in output.iterdir()} - {_LOCK}:
        return None
    try:
        manifest = json.loads((output / MANIFEST).read_bytes())
        if manifest["benchmark"] == "retrieval" and isinstance(manifest["settings"], dict):
            return manifest  # type: ignore[no-any-return]
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise CorpusError(
        f"{str(output)!r} holds other files, no benchmark. Name a new or empty directory."
    )
