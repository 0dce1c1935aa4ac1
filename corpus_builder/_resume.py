"""Where an index is built: an empty directory, or one in which the same build was begun."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena._internal.files import TEMPORARY_SUFFIX, sha256_file, write_json
from arena.corpus import indexes, layout
from arena.errors import ArenaError
from corpus_builder._index import Plan
from corpus_builder._place import REPLACED
from corpus_builder._register import LOCK

_KEY = "[0-9a-f]{16}"
_GOING = ".going"
_OURS = re.compile(
    rf"({_KEY}|{REPLACED})({re.escape(_GOING)})?|{_KEY}\.json|\..*{re.escape(TEMPORARY_SUFFIX)}",
    re.DOTALL,
)
_FOLDER = re.compile(r"\.(.+)\.building")


@contextmanager
def begun(building: Path, plan: Plan, resumes: bool) -> Iterator[Path]:
    """Lend the directory below `building` in which the index of `plan` is built.

    A build that fails removes it, unless its engine resumes and it holds something. What was
    begun with other settings stays until a build succeeds: the other settings may be a slip.
    """
    new, told = building / plan.key, building / f"{plan.key}.json"
    try:
        if not resumes or ((new / layout.MANIFEST).exists() and not finished(new, plan)):
            _remove(new)
        new.mkdir(parents=True, exist_ok=True)
        write_json(told, plan.description())
        yield new
    except BaseException:
        if not resumes or not (new.is_dir() and any(new.iterdir())):
            _remove(new, told)
        raise
    else:
        clear(building)
    finally:
        with suppress(OSError):
            building.rmdir()


def finished(new: Path, plan: Plan) -> dict[str, Any] | None:
    """Return the manifest of an index that is complete, but was not put in its place."""
    try:
        manifest = layout.read_manifest(new, "finished index")
        if any(manifest.get(key) != value for key, value in plan.description().items()):
            return None
        intact = all(sha256_file(new / f) == e["sha256"] for f, e in manifest["files"].items())
    except (ArenaError, LookupError):
        return None
    return manifest if intact else None


def clear(building: Path) -> None:
    """Remove all that builds have left in `building`, but nothing else."""
    _remove(*(path for path in building.glob("*") if _OURS.fullmatch(path.name)))
    with suppress(OSError):  # something else is there, or nothing ever was
        building.rmdir()


def _remove(*paths: Path) -> None:
    for path in paths:
        if path.is_dir():
            # Under another name first: a kill halfway must leave nothing that looks begun.
            going = path if path.name.endswith(_GOING) else path.with_name(path.name + _GOING)
            shutil.rmtree(going, ignore_errors=True)
            if going != path:
                path.rename(going)
                shutil.rmtree(going, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def list_begun(corpus: Path) -> dict[str, str]:
    """Return the name of every index that was begun -> the command that goes on with it."""
    found = {}
    for building in sorted((corpus / layout.INDEXES).glob(".*.building")):
        name = _FOLDER.fullmatch(building.name)
        if name is None or not building.is_dir():
            continue
        found[name[1]] = indexes.build_command(corpus, "ENGINE", name[1])
        for path in sorted(building.glob("*.json")):
            with suppress(OSError, ValueError, LookupError, TypeError):
                plan = json.loads(path.read_bytes())
                found[name[1]] = indexes.build_command(
                    corpus, plan["engine"], plan["name"], plan["fields"], plan["options"]
                )
    return found


def is_begun(file: Path) -> bool:
    """Return whether a file, relative to its corpus, belongs to a build that goes on or was begun.

    Among them are the locks, which a kill leaves behind.
    """
    if len(file.parts) < 2 or file.parts[0] != layout.INDEXES:
        return False
    name = file.parts[1]
    if len(file.parts) == 2:
        return name == LOCK or _FOLDER.fullmatch(name.removesuffix(".lock")) is not None
    return _FOLDER.fullmatch(name) is not None
