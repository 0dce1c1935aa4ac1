"""Add an index to a corpus that is built; continue one whose build was begun."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena._internal.files import TEMPORARY_SUFFIX, sha256_file, write_json
from arena._internal.workdir import REPLACED, only_writer, restore, sync
from arena.corpus import indexes, layout
from arena.errors import ArenaError, CorpusError
from corpus_builder._index import Plan, make_plan, write_index
from corpus_builder._register import LOCK, read_intact, register
from corpus_builder.executors import Executor

_NOT_WRITABLE = {
    errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS,
}  # fmt: skip


def build_index(
    directory: str | Path,
    engine: str,
    *,
    name: str | None = None,
    fields: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Build an index and add it to the corpus in `directory`.

    The index appears whole or not at all, and nothing else of the corpus changes but the list of
    indexes in its manifest, so that whoever has the corpus open goes on. Any number of indexes of
    different names may be built at the same time. The build of an engine that resumes is kept
    when it fails, is interrupted or killed; the same call goes on with it.

    Args:
        directory: of the corpus.
        engine: a registered retriever.
        name: what the index is called, `layout.INDEX_NAME`; by default like its engine.
        fields: what is indexed, of ``title``, ``abstract``, ``fulltext``; by default what the
            corpus was configured with.
        options: of the engine, such as ``{"encoder": "minilm"}``.
        overwrite: replace an index of that name; it stays until the new one is complete.
        executor: runs the encoding of vectors in its processes, to the same bytes; engines that
            have nothing to spread do without. It stays open.

    Returns:
        The manifest of the index.

    Raises:
        UnknownNameError: if no engine has that name.
        DataError: if a name, a field or an option is unusable.
        CorpusError: if `directory` holds no corpus, or has the index already.
        ArenaError: if another process writes this index.
        OSError: if the disk is full or not writable.
    """
    root = Path(os.path.realpath(directory))
    corpus = layout.read_manifest(root)
    usual = corpus["configuration"]["fields"]
    plan, kind = make_plan(
        engine, name, usual if fields is None else fields, options, corpus["content_sha256"]
    )
    read_intact(root)
    index = layout.index_directory(root, plan.name)
    building = layout.building_directory(root, plan.name)
    with _told(root, plan, kind.resumes):
        index.parent.mkdir(exist_ok=True)
        with only_writer(building.with_name(f"{building.name}.lock"), index):
            restore(building, index, layout.MANIFEST)
            found = None if overwrite else _left(root, plan)
            if found is not None:
                register(root, plan)
                clear(building)
                return found
            _check_free(root, plan, overwrite)
            with begun(building, plan, kind.resumes) as new:
                manifest = finished(new, plan) or write_index(root, new, plan, executor)
                sync(new)
                register(root, plan, new)
    return manifest


def _left(root: Path, plan: Plan) -> dict[str, Any] | None:
    """Return the manifest of this very index if a kill left it in its place, but not registered."""
    if plan.name in read_intact(root)["indexes"]:
        return None
    try:
        manifest = indexes.read_index(root, plan.name, plan.corpus)
    except CorpusError:
        return None
    same = all(manifest.get(key) == value for key, value in plan.description().items())
    return manifest if same else None


def _check_free(root: Path, plan: Plan, overwrite: bool) -> None:
    """Refuse a place that is taken.

    Raises:
        CorpusError: if there is an index and `overwrite` is false, or anything else.
    """
    index = layout.index_directory(root, plan.name)
    if not index.exists():
        return
    known = plan.name in read_intact(root)["indexes"]
    if not known and not (index / layout.MANIFEST).is_file():  # never delete what is not ours
        raise CorpusError(f"{str(index)!r} holds no index but something else. Move it away.")
    if not overwrite:
        what = indexes.describe_indexes(root, [plan.name])[plan.name]
        raise CorpusError(
            f"{str(root)!r} already has the index {what}. Pass --overwrite to replace it, or "
            "--name for another one."
        )


@contextmanager
def _told(root: Path, plan: Plan, resumes: bool) -> Iterator[None]:
    """Say of a failed write and of an interruption what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        if not resumes:
            raise
        raise KeyboardInterrupt("The same command goes on from here.") from None
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
        kept = (
            "What is done is kept, and the same command goes on from there"
            if resumes
            else "Nothing half-built is left behind"
        )
        raise OSError(
            f"cannot write the index {plan.name!r} into {str(root)!r}: "
            f"{(error.strerror or str(error)).rstrip('.')}. {kept}; free some disk space, or mend "
            "the permissions."
        ) from error


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
