"""The directory of a run: whose it is, and whether this run may go on in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena._internal.files import TEMPORARY_SUFFIX, sha256_file, write_json
from arena._internal.workdir import only_writer
from arena.errors import CorpusError
from arena.runs.pictures import PICTURES
from arena.runs.trajectories import TRAJECTORIES, is_cut_off

MANIFEST = "manifest.json"
MANIFEST_VERSION = 2
FOUND_FILE = "found.json"
_OURS = ("run.trec", "run.*.trec", "qrels.trec", "mind_maps.jsonl", f"{PICTURES}/*.svg", FOUND_FILE,
         "metrics.json", TRAJECTORIES)  # fmt: skip
_LOCK = ".lock"


@contextmanager
def run_directory(output: Path, manifest: dict[str, Any], overwrite: bool) -> Iterator[None]:
    """Hold `output` for the run that `manifest` describes: new, or begun before.

    Raises:
        CorpusError: if `output` holds anything else, or another run and `overwrite` is false.
        ArenaError: if another process writes it.
    """
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    output.mkdir(parents=True, exist_ok=True)
    with only_writer(output / _LOCK, output):
        before = _run_before(output)
        if before and overwrite:
            for path in [path for name in _OURS for path in output.glob(name)]:
                path.unlink()
            with suppress(OSError):  # a file of the user's keeps it
                (output / PICTURES).rmdir()
            (output / MANIFEST).unlink()  # last the one that tells whose files these are
            before = None
        if before:
            _check_same(output, before, manifest)
            _check_finished(output, before)
        else:
            write_json(output / MANIFEST, manifest)
        yield


def _run_before(output: Path) -> dict[str, Any] | None:
    """Return the manifest of the run in `output`, if any; refuse a directory of something else."""
    for folder in (output, output / PICTURES):
        for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
            path.unlink()  # what a kill left of an atomic write
    if not {path.name for path in output.iterdir()} - {_LOCK}:
        return None
    try:
        manifest = json.loads((output / MANIFEST).read_bytes())
        if isinstance(manifest["sha256"], dict) and "agent" in manifest:
            return manifest  # type: ignore[no-any-return]
    except (OSError, ValueError, LookupError, TypeError):
        pass
    # Never write among, or delete, what is not ours, be it a corpus.
    raise CorpusError(f"{str(output)!r} holds other files, no run. Name a new or empty directory.")


def _check_same(output: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    hashes = before["sha256"]
    differing = []
    for key, value in manifest.items():
        if key in ("environment", "budget") and isinstance(before.get(key), dict):
            differing += [part for part in value if before[key].get(part) != value[part]]
        elif key != "sha256" and before.get(key) != value:
            differing.append(key)
    differing += [f"sha256 of {k}" for k, v in manifest["sha256"].items() if hashes.get(k) != v]
    if not differing:
        return
    hint = ": a file of arena or baselines was changed or added"
    if "sha256 of environment" in differing and "sha256 of code" in differing:
        differing.remove("sha256 of environment")  # the same files
    raise CorpusError(
        f"{str(output)!r} holds another run (it differs in {', '.join(differing)}"
        f"{hint if differing == ['sha256 of code'] else ''}). Name another directory or pass "
        "--overwrite."
    )


def _check_finished(output: Path, before: dict[str, Any]) -> None:
    """Refuse to write results anew from episodes that were changed since the run was finished."""
    files = before.get("files")
    expected = files.get(TRAJECTORIES) if isinstance(files, dict) else None
    path = output / TRAJECTORIES
    if expected is None or not path.is_file() or is_cut_off(path):
        return  # it goes on from there
    if sha256_file(path) != expected:
        raise CorpusError(
            f"{str(path)!r} is not as the run left it. Name another directory or pass --overwrite."
        )
