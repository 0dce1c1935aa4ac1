"""Add an index to a corpus that is built; continue one whose build was begun."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from arena import __version__
from arena._internal.files import sha256_file
from arena._internal.workdir import clear_building, only_writer, whole_directory
from arena.corpus import indexes, layout
from arena.errors import ArenaError, CorpusError
from corpus_builder._index import IndexPlan, make_plan, write_index
from corpus_builder._register import LOCK, register
from corpus_builder.database import readable_errors
from corpus_builder.executors import Executor


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

    The index appears whole or not at all. Of the other files only the manifest changes, so
    programs that have the corpus open are not disturbed. Indexes of different names can be built
    at the same time. If the engine can resume, an unfinished build is kept when it fails, is
    interrupted or killed, and the same call continues it.

    Args:
        directory: Directory of the corpus.
        engine: Name of a registered retriever.
        name: Name of the index, see `layout.INDEX_NAME`; the engine's name by default.
        fields: Indexed fields: ``title``, ``abstract``, ``fulltext``; by default those that the
            corpus was configured with.
        options: Options of the engine, such as ``{"encoder": "minilm"}``.
        overwrite: Replace an index of that name; it stays until the new one is complete.
        executor: Executor that encodes vectors in parallel, to the same bytes; other engines do
            not use it. It stays open.

    Returns:
        The manifest of the index.

    Raises:
        UnknownNameError: If no engine has that name.
        DataError: If a name, a field or an option is unusable.
        CorpusError: If `directory` holds no corpus, or has the index already.
        ArenaError: If another process writes this index.
        OSError: If the disk is full or not writable.
    """
    root = Path(os.path.realpath(directory))
    corpus = layout.read_manifest(root)
    usual = corpus["configuration"]["fields"]
    plan = make_plan(
        engine, name, usual if fields is None else fields, options, corpus["content_sha256"]
    )
    index, kind = layout.index_directory(root, plan.name), plan.kind
    place = partial(register, root, plan.corpus, "indexes", index)
    if not overwrite and plan.name not in corpus["indexes"]:
        manifest = _complete_manifest(index, plan)
        if manifest is not None:  # a killed build moved it but did not register it
            building = layout.building_directory(root, plan.name)
            with only_writer(building.with_name(f"{building.name}.lock"), index):
                place()
                clear_building(building)
            return manifest
    kept = (
        "What is done is kept, and the same command goes on from there"
        if kind.resumes
        else "Nothing half-built is left behind"
    )
    try:
        with (
            readable_errors(
                f"cannot write the index {plan.name!r} into {str(root)!r}",
                f"{kept}; free some disk space, or mend the permissions.",
            ),
            whole_directory(
                index,
                lambda _: _check_free(root, plan, overwrite),
                manifest=layout.MANIFEST,
                work=plan.description() | {"release": __version__},
                resumes=kind.resumes,
                place=place,
            ) as new,
        ):
            manifest = _complete_manifest(new, plan)
            if manifest is None:
                if (new / layout.MANIFEST).exists():  # of a complete index that is damaged
                    shutil.rmtree(new)
                    new.mkdir()
                manifest = write_index(root, new, plan, executor)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*["The same command goes on from here."] * kind.resumes) from None
    return manifest


def _check_free(root: Path, plan: IndexPlan, overwrite: bool) -> None:
    """Raise `CorpusError` if the index exists and `overwrite` is false, or its path is taken."""
    index = layout.index_directory(root, plan.name)
    if not index.exists():
        return
    known = plan.name in layout.read_manifest(root)["indexes"]
    if not known and not (index / layout.MANIFEST).is_file():  # never delete what is not ours
        raise CorpusError(f"{str(index)!r} holds no index but something else. Move it away.")
    if not overwrite:
        what = indexes.describe_indexes(root, [plan.name])[plan.name]
        raise CorpusError(
            f"{str(root)!r} already has the index {what}. Pass --overwrite to replace it, or "
            "--name for another one."
        )


_FOLDER = re.compile(r"\.(.+)\.building")


def _complete_manifest(index: Path, plan: IndexPlan) -> dict[str, Any] | None:
    """Return the manifest of a complete index that a killed build has not registered, or None."""
    try:
        manifest = layout.read_manifest(index, "finished index")
        if any(manifest.get(key) != value for key, value in plan.description().items()):
            return None
        intact = all(sha256_file(index / f) == e["sha256"] for f, e in manifest["files"].items())
    except (ArenaError, LookupError):
        return None
    return manifest if intact else None


def unfinished_builds(corpus: Path) -> dict[str, str]:
    """Return, for each index with an unfinished build, its name and the command to continue."""
    commands = {}
    for building in sorted((corpus / layout.INDEXES).glob(".*.building")):
        name = _FOLDER.fullmatch(building.name)
        if name is None or not building.is_dir():
            continue
        commands[name[1]] = indexes.build_command(corpus, "ENGINE", name[1])
        for path in sorted(building.glob("*.json")):
            with suppress(
                OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError
            ):
                plan = json.loads(path.read_bytes())
                commands[name[1]] = indexes.build_command(
                    corpus, plan["engine"], plan["name"], plan["fields"], plan["options"]
                )
    return commands


def is_unfinished(file: Path) -> bool:
    """Return whether a file, relative to its corpus, belongs to an unfinished build, or is a lock.

    Args:
        file: Path relative to the corpus.
    """
    if len(file.parts) < 2 or file.parts[0] not in (layout.INDEXES, layout.DIGESTS):
        return False
    name = file.parts[1]
    if len(file.parts) == 2:
        return name == LOCK or _FOLDER.fullmatch(name.removesuffix(".lock")) is not None
    return _FOLDER.fullmatch(name) is not None
