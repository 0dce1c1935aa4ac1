"""The plan of an index, building it, and adding it to a corpus that is built."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.corpus import indexes, layout
from arena.errors import ArenaError, CorpusError, DataError, clip, did_you_mean
from arena.executors import Executor
from arena.kit.arrays import load_array
from arena.kit.files import sha256_file, sha256_json, write_json
from arena.kit.options import check_options, parameters_of
from arena.kit.terminal import progress
from arena.kit.workdir import staged_directory
from arena.retrieval import RETRIEVERS, Combiner, Retriever, parse_name
from arena.version import __version__
from corpus_builder.database import readable_errors
from corpus_builder.files import read_rows
from corpus_builder.manifest import list_files, register

FIELDS = ("title", "abstract", "fulltext")

# Arguments of `Retriever.build` besides the engine's options.
_TAKEN = ("source", "directory", "fields", "progress", "parallel")


def fields_of(engine: str, fields: Sequence[str] | None) -> Sequence[str]:
    """Return `fields`, or if None those that an engine has in a corpus of a release.

    Words of the full text are searched (ResearchArena, section 3.1); a vector is made of title and
    abstract, since an encoder reads only the first words of a text.
    """
    if fields is not None:
        return fields
    return FIELDS[:2] if "encoder" in parameters_of(RETRIEVERS.get(engine).build) else FIELDS


class IndexPlan(NamedTuple):
    """An index to be built."""

    engine: str
    name: str
    fields: tuple[str, ...]
    options: dict[str, Any]
    corpus: str

    @property
    def kind(self) -> type[Retriever]:
        """The class of the engine."""
        return RETRIEVERS.get(self.engine)

    def description(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return self._asdict() | {"fields": list(self.fields)}


def check_fields(fields: tuple[str, ...]) -> None:
    """Raise `DataError` if fields are unknown, repeated or missing."""
    for field in fields:
        if field not in FIELDS:
            raise DataError(f"no field {field!r} to index.{did_you_mean(field, FIELDS)}")
    if not fields or len(set(fields)) < len(fields):
        raise DataError(
            f"fields={','.join(fields)!r}: name each of {', '.join(FIELDS)} at most once."
        )


def make_plan(
    engine: str,
    name: str | None,
    fields: Sequence[str],
    options: Mapping[str, Any] | None,
    corpus: str,
) -> IndexPlan:
    """Return the plan of an index, checked before any work."""
    engine = RETRIEVERS.resolve(engine)
    parsed = parse_name(engine)
    combiner = RETRIEVERS.get(parsed.name if parsed.parts else engine)
    if issubclass(combiner, Combiner):
        combiner.refuse_alone()
    RETRIEVERS.get(engine)
    if isinstance(fields, str):
        raise DataError(f"fields={clip(fields)}: give a list of names.")
    check_fields(tuple(fields))
    options = dict(options or {})
    for option in options:
        if option in _TAKEN:
            hint = " Use --fields." if option == "fields" else ""
            raise DataError(f"{engine} has no option {clip(option)} to build with.{hint}")
    name = engine.lower() if name is None else name
    if not layout.INDEX_NAME.fullmatch(name):
        raise DataError(
            f"{clip(name)} cannot name an index: use at most 100 of a-z, 0-9, '.', '_' and '-', "
            "a letter or digit first."
        )
    if name != engine and name in RETRIEVERS.names():
        raise DataError(
            f"an index of {engine} cannot be called {name!r}: that is another engine. "
            "Choose another name."
        )
    plan = IndexPlan(engine, name, tuple(fields), options, corpus)
    check_options(f"index {engine}", plan.kind.build, options, _TAKEN)
    try:
        sha256_json(options)
    except TypeError as error:
        raise DataError(f"the options of {engine} must be what JSON can hold: {error}.") from None
    return plan


def write_index(
    corpus: Path, directory: Path, plan: IndexPlan, executor: Executor | None = None
) -> dict[str, Any]:
    """Build an index of the corpus in `corpus` into `directory`; return its manifest.

    The directory is empty or, if the engine resumes, as a killed build left it. No file depends on
    the executor.
    """
    papers = PaperTexts(corpus)
    settings = {
        "total": int(papers.searchable_before[-1]),
        "desc": f"index {plan.name}",
        "unit": "paper",
    }

    def bar(iterable: Iterable[Any], **options: Any) -> Iterable[Any]:
        return progress(iterable, **(settings | options))  # type: ignore[no-any-return]

    kind, options = plan.kind, dict(plan.options)
    if executor is not None and kind.runs_in_parallel and (executor.remote or executor.workers > 1):
        options["parallel"] = executor.run
    description = kind.build(papers, directory, plan.fields, bar, **options) or {}
    manifest = {
        "fields": list(plan.fields),
        **description,
        "format_version": layout.PART_VERSION,
        "engine": plan.engine,
        "name": plan.name,
        "options": plan.options,
        "corpus": plan.corpus,
        "files": list_files(directory),
    }
    write_json(directory / layout.MANIFEST, manifest)
    return manifest


class PaperTexts:
    """The searchable papers of a corpus directory, as an index is built from them."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus
        self.searchable_before: NDArray[np.int64] = load_array(corpus / layout.SEARCHABLE_BEFORE)
        self._section_starts = load_array(corpus / layout.SECTION_STARTS)

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        """Yield (document number, the fields' texts joined by line breaks)."""
        columns = [field for field in fields if field != "fulltext"]
        papers = read_rows(self._corpus / layout.PAPERS, ["searchable", *columns])
        bodies = self._bodies() if "fulltext" in fields else None
        for document, (searchable, *values) in enumerate(papers):
            parts = dict(zip(columns, values, strict=True))
            if bodies is not None:
                parts["fulltext"] = next(bodies)
            if searchable:
                yield document, "\n".join(parts[field] for field in fields)

    def _bodies(self) -> Iterator[str]:
        sections = read_rows(self._corpus / layout.SECTIONS, ["heading", "text"])
        for count in np.diff(self._section_starts).tolist():
            body = [next(sections) for _ in range(count)]
            yield "\n".join(text for section in body for text in section)


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

    The options are those of ``arena-corpus index --help``. An `executor` encodes vectors in
    parallel, to the same bytes, and stays open; other engines do not use it.

    Returns:
        The manifest of the index; with ``built_before`` if the same call has made it before.
    """
    root = Path(os.path.realpath(directory))
    corpus = layout.read_manifest(root)
    if fields is None:
        fields = fields_of(RETRIEVERS.resolve(engine), corpus["configuration"]["fields"])
    plan = make_plan(engine, name, fields, options, corpus["content_sha256"])
    index, resumes = layout.index_directory(root, plan.name), plan.kind.resumes
    work = plan.description() | {"release": __version__}
    kept = (
        "What is done is kept, and the same command continues from there"
        if resumes
        else "Nothing half-built is left behind"
    )
    made = None
    if not overwrite and plan.name in corpus["indexes"]:
        made = _complete_manifest(index, plan)
    try:
        with (
            readable_errors(
                f"cannot write the index {plan.name!r} into {str(root)!r}",
                f"{kept}; free some disk space, or fix the permissions.",
            ),
            staged_directory(
                index,
                lambda _: _check_free(root, plan, overwrite or made is not None),
                manifest=layout.MANIFEST,
                work=work if resumes else None,
                place=id if made else partial(register, root, plan.corpus, "indexes", index),
            ) as new,
        ):
            if made:  # what a killed build left behind goes
                return made | {"built_before": True}
            if index.exists() and plan.name not in layout.read_manifest(root)["indexes"]:
                shutil.rmtree(new)
                index.rename(new)  # a killed build moved it but did not register it
            manifest = _complete_manifest(new, plan)
            if manifest is None:
                if (new / layout.MANIFEST).exists():  # of a complete index that is damaged
                    shutil.rmtree(new)
                    new.mkdir()
                manifest = write_index(root, new, plan, executor)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*["The same command continues from here."] * resumes) from None
    return manifest


def _check_free(root: Path, plan: IndexPlan, overwrite: bool) -> None:
    """Raise `CorpusError` if the index exists and `overwrite` is false, or its path is taken."""
    index = layout.index_directory(root, plan.name)
    known = plan.name in layout.read_manifest(root)["indexes"]
    if index.exists() and not known and not (index / layout.MANIFEST).is_file():
        raise CorpusError(f"{str(index)!r} contains something else than an index. Move it away.")
    if known and index.exists() and not overwrite:
        what = indexes.describe_indexes(root, [plan.name])[plan.name]
        raise CorpusError(
            f"{str(root)!r} already has the index {what}. Pass --overwrite to replace it, or "
            "--name for another one."
        )


def _complete_manifest(index: Path, plan: IndexPlan) -> dict[str, Any] | None:
    """Return the manifest of a complete index that is what `plan` makes, or None."""
    try:
        manifest = layout.read_manifest(index, "finished index")
        if any(manifest.get(key) != value for key, value in plan.description().items()):
            return None
        intact = all(sha256_file(index / f) == e["sha256"] for f, e in manifest["files"].items())
    except (ArenaError, LookupError):
        return None
    return manifest if intact else None
