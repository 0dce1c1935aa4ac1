"""Add an index to a corpus that is built."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena._internal.workdir import only_writer
from arena.corpus import indexes, layout
from arena.errors import CorpusError
from corpus_builder._index import Plan, make_plan, write_index
from corpus_builder._place import restore, sync
from corpus_builder._register import read_intact, register
from corpus_builder._resume import begun, clear, finished
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
            restore(building, index)
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
