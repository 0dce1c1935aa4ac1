"""Build a corpus directory from a source."""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from functools import partial
from glob import escape
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from arena._internal.files import sha256_file, sha256_json, write_json
from arena._internal.workdir import clear_building, only_writer, other_files, whole_directory
from arena.corpus import layout
from arena.errors import ArenaError, CorpusError, clip
from corpus_builder._index import check_fields, list_files, make_plan, write_index
from corpus_builder.content import DANGLING, Once, write_content
from corpus_builder.database import count, readable_errors
from corpus_builder.executors import Executor
from corpus_builder.sources import Source
from corpus_builder.staging import database, stage


def build(
    source: Source,
    output: str | Path,
    *,
    engines: tuple[str, ...] = ("bm25",),
    fields: tuple[str, ...] = ("title", "abstract", "fulltext"),
    overwrite: bool = False,
) -> dict[str, Any]:
    """Build a corpus from `source` into the directory `output`, with its indexes.

    The directory appears whole or not at all. The same records in any order give the same files
    and hashes; only ``source`` in the manifest names the files they come from. Memory stays
    bounded: texts pass through DuckDB's external sort.

    Args:
        source: Source of the records.
        output: Directory that does not exist yet, or is empty.
        engines: Names of the retrievers to build an index for; `corpus_builder.index.build_index`
            adds more later.
        fields: Indexed fields: ``title``, ``abstract``, ``fulltext``.
        overwrite: Replace a corpus in `output`; it stays until the new one is complete.

    Returns:
        The manifest.

    Raises:
        DataError: If a record is unusable.
        UnknownNameError: If an engine does not exist.
        CorpusError: If `output` cannot be used.
        OSError: If the disk is full or not writable; no file is left behind.
    """
    output = Path(output)
    engines = tuple(dict.fromkeys(engines))
    check_fields(fields)
    for engine in engines:
        make_plan(engine, None, fields, None, "")  # refuse bad arguments before any work
    advice = (
        "Nothing half-built is left behind; free some disk space, mend the permissions, or name "
        "another directory."
    )
    with readable_errors(f"cannot write {str(output)!r}", advice):
        check_output(output, overwrite)
        check = partial(check_output, overwrite=overwrite)
        with whole_directory(output, check, manifest=layout.MANIFEST) as directory:
            return _build(source, directory, engines, fields)


def _build(
    source: Source, directory: Path, engines: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, Any]:
    staging = directory / "staging"
    staging.mkdir()
    unknown = stage(source, staging)
    with database(staging) as connection:
        manifest = write_content(connection, directory, staging, count(connection, DANGLING))
    if unknown:
        manifest["unknown_keys"] = unknown
    manifest["source"] = source.describe()
    shutil.rmtree(staging)
    manifest["configuration"] = {"engines": list(engines), "fields": list(fields)}
    return finish(directory, manifest, engines, fields)


def finish(
    directory: Path,
    manifest: dict[str, Any],
    engines: tuple[str, ...],
    fields: tuple[str, ...],
    executor: Executor | None = None,
    once: Once = lambda _, work: work(),
) -> dict[str, Any]:
    """Build the indexes of a corpus whose content is written, and write its manifest.

    Args:
        directory: Directory of the corpus.
        manifest: Manifest without ``indexes``, ``files`` and ``manifest_sha256``.
        engines: Names of the retrievers to build an index for.
        fields: Indexed fields.
        executor: Executor for what an engine can do in parallel; no file depends on it.
        once: Function that runs a step, or returns its result from an earlier run.
    """

    def index(engine: str) -> str:
        plan = make_plan(engine, None, fields, None, manifest["content_sha256"])
        place = layout.index_directory(directory, engine)
        if not plan.kind.resumes:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        write_index(directory, place, plan, executor)
        return sha256_file(place / layout.MANIFEST)

    manifest["indexes"] = {e: once(f"index-{e}", partial(index, e)) for e in engines}
    manifest["files"] = once("files", lambda: list_files(directory, layout.INDEXES))
    manifest["manifest_sha256"] = sha256_json(manifest)
    # The last file: a directory without a manifest does not open.
    write_json(directory / layout.MANIFEST, manifest)
    return manifest


def built_before(
    source: Source, output: str | Path, engines: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return the manifest of the corpus in `output` if `build` has made it from the same input.

    So a command whose process was killed after its work was done can be given again. The source
    is read to its end, since its description holds the hashes of its files.

    Args:
        source: Source of the records.
        output: Directory that may hold a corpus.
        engines: As for `build`.
        fields: As for `build`.

    Raises:
        DataError: If the source cannot be read.
    """
    output = Path(os.path.realpath(output))
    configuration = {"engines": list(dict.fromkeys(engines)), "fields": list(fields)}
    try:
        manifest = layout.read_manifest(output)
    except (ArenaError, OSError):
        return None
    if manifest["configuration"] != configuration:
        return None
    deque(chain(source.papers(), source.surveys()), maxlen=0)
    if manifest["source"] != json.loads(json.dumps(source.describe())):
        return None
    building = output.with_name(f".{output.name}.building")
    with only_writer(output.with_name(f"{building.name}.lock"), output):
        clear_building(building)  # left by the killed process
    return manifest


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
    if "\\" in path or any("\ud800" <= letter <= "\udfff" for letter in path):
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
            layout.DIGESTS,
            layout.CARD,
            layout.CARD_BUILDING,
            *(PurePosixPath(name).parts[0] for name in manifest["files"]),
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return set()
