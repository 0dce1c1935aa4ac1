"""The on-disk format of a built corpus, all that `corpus_builder` and `arena` share.

docs/corpus-format.md describes files and columns. The row number in papers.parquet is the document
number; undated papers come last. A paper is *searchable* when it is dated and no survey; only
searchable papers have postings, references or citations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import CorpusError, clip
from arena.kit.files import Form, read_json, schema_error, sha256_json

FORMAT_VERSION = 5
PART_VERSION = 5
"""Of indexes, digests, task sets, and of what a content hash covers."""

MANIFEST = "manifest.json"
INDEXES = "index"
DIGESTS = "digest"
PAPERS = "papers.parquet"
SECTIONS = "sections.parquet"
REFERENCES = "references.parquet"
TOPICS = "tasks/topics.parquet"
GOLD = "tasks/gold.parquet"
MIND_MAPS = "tasks/mind_maps.parquet"
ARTICLES = "tasks/articles.parquet"
QUESTIONS = "tasks/questions.json"
"""Only in a task set of questions: what the audit found of each."""
CARD = "card"
"""Directory of the dataset card, which describes the labels; nothing in `arena` reads it."""

IDS = "lookup/ids"
TITLES = "lookup/titles"
DAYS = "lookup/days.npy"
SEARCHABLE_BEFORE = "lookup/searchable_before.npy"
ID_HASHES = "lookup/id_hashes.npy"
ID_DOCUMENTS = "lookup/id_documents.npy"
SECTION_STARTS = "lookup/section_starts.npy"
CITED_STARTS = "lookup/cited_starts.npy"
CITED = "lookup/cited.npy"
CITING_STARTS = "lookup/citing_starts.npy"
CITING = "lookup/citing.npy"

DECIDE_DATES = (DAYS, SEARCHABLE_BEFORE)
"""The arrays that decide which papers a cutoff reaches."""

UNDATED = 2**31 - 1
"""Stored as the day of an undated paper: later than every cutoff there can be."""


INDEX_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
"""Pattern of the names of indexes; by default an index is called like its engine."""


def index_directory(corpus: Path, name: str) -> Path:
    """Return the directory of the index `name` of a corpus."""
    return corpus / INDEXES / name


def digest_directory(corpus: Path, name: str) -> Path:
    """Return the directory of the digests that the input `name` shows."""
    return corpus / DIGESTS / name


_CORPUS = "built corpus"
TASK_SET = "task set"
"""Tasks of ordinary papers: the four files of ``tasks/`` and a manifest."""
_FORMS: dict[str, Form] = {
    _CORPUS: {
        "content_sha256": str, "tasks_sha256": str, "manifest_sha256": str, "configuration": dict,
        "counts": dict, "dates": dict, "indexes": dict, "source": object, "files": dict,
        "card": dict,
    },
    TASK_SET: {
        "corpus": str, "tasks_sha256": str, "manifest_sha256": str, "options": dict, "counts": dict,
        "files": dict,
    },
    "index": {"engine": str, "corpus": str, "files": dict},
    "digest": {"input": str, "corpus": str, "heading": str, "papers": str, "files": dict},
}  # fmt: skip
_FILE = {"bytes": int, "sha256": str}


def stated_licence(manifest: Mapping[str, Any]) -> str | None:
    """Return the licence that the source of a corpus states, or None."""
    source = manifest["source"]
    licence = source.get("licence", source.get("license"))
    return licence if isinstance(licence, str) and licence.strip() else None


def read_manifest(
    directory: Path, what: str = _CORPUS, *, check_files: bool = True
) -> dict[str, Any]:
    """Read a manifest and check that it is one, of this format version.

    `what` is ``"built corpus"``, `TASK_SET`, or for an index any other name to use in messages.
    With `check_files` the manifest of a corpus must be as it was written, and every file be there
    and have its size; for hashes see `arena.corpus.integrity`.
    """
    path = directory / MANIFEST
    check, rebuild = "Check the path, or build one.", "Build it again."
    parts = () if what == TASK_SET else (directory,)
    if not directory.exists():
        raise CorpusError(f"there is no directory {str(directory)!r}. {check}", *parts)
    if not directory.is_dir():
        raise CorpusError(f"{str(directory)!r} is a file, not a {what}. {check}", *parts)
    if not path.is_file():
        raise CorpusError(f"{str(directory)!r} contains no {what} (no {MANIFEST}). {check}", *parts)
    try:
        manifest = read_json(path)
        why = schema_error(manifest, {"format_version": object})
    except ValueError as error:
        why = clip(str(error))
    version = None if why else manifest["format_version"]
    readable = FORMAT_VERSION if what == _CORPUS else PART_VERSION
    fault = why or schema_error({"card": {}, **manifest}, _FORMS.get(what, _FORMS["index"]))
    # A part may be taken for a corpus, or a corpus for a part: its form says that.
    of_today = version == readable or (fault and version in (FORMAT_VERSION, PART_VERSION))
    if why is None and not of_today:
        raise CorpusError(
            f"{str(directory)!r} is of format version {clip(version)}; this release reads "
            f"version {readable}. {rebuild}",
            *parts,
        )
    why = fault
    for key in ("files", "card"):
        entries = manifest.get(key, {}) if why is None else {}
        why = why or schema_error(entries, dict.fromkeys(entries, _FILE), f"{key}.")
    if why is not None:
        raise CorpusError(
            f"{str(path)!r} is not the manifest of a {what}: {why}. {rebuild}", *parts
        )
    if not check_files:
        return manifest  # type: ignore[no-any-return]
    content = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    if "manifest_sha256" in _FORMS.get(what, ()) and manifest["manifest_sha256"] != sha256_json(
        content
    ):
        raise CorpusError(
            f"{str(path)!r} is damaged: its content is not what was written. {rebuild}", *parts
        )
    for name, entry in manifest["files"].items():
        file, expected = directory / name, entry["bytes"]
        size = file.stat().st_size if file.is_file() else None
        if size != expected:
            fault = "is missing" if size is None else f"has {size} bytes, not {expected}"
            raise CorpusError(f"{str(file)!r} {fault}. {rebuild}", *parts)
    return manifest  # type: ignore[no-any-return]
