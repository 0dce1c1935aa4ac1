"""The plan of an index, and writing the index into a directory."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import load_array
from arena._internal.files import sha256_file, sha256_json, write_json
from arena._internal.tables import progress
from arena.corpus import layout
from arena.errors import CorpusError, DataError, clip, did_you_mean
from arena.retrieval import RETRIEVERS, Combiner, Retriever, parse_name
from corpus_builder.executors import Executor
from corpus_builder.parquet import read_rows

FIELDS = ("title", "abstract", "fulltext")

# Arguments of `Retriever.build` besides the engine's options.
_TAKEN = ("source", "directory", "fields", "progress", "spread")


class IndexPlan(NamedTuple):
    """An index to be built.

    Attributes:
        engine: Name of the registered engine that builds it.
        name: Name of the index.
        fields: Indexed fields.
        options: Options of the engine.
        corpus: Content hash of the corpus.
    """

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
    """Return the plan of an index, checked before any work.

    Raises:
        UnknownNameError: If no engine has that name.
        DataError: If the engine only combines others, or another argument is unusable. The engine
            checks its options.
    """
    engine = RETRIEVERS.resolve(engine) if isinstance(engine, str) else engine
    parts = isinstance(engine, str) and parse_name(engine).parts
    combiner = RETRIEVERS.get(parse_name(engine).name if parts else engine)
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
    if not isinstance(name, str) or not layout.INDEX_NAME.fullmatch(name):
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
    try:
        sha256_json(options)
    except TypeError as error:
        raise DataError(f"the options of {engine} must be what JSON can hold: {error}.") from None
    return plan


def write_index(
    corpus: Path, directory: Path, plan: IndexPlan, executor: Executor | None = None
) -> dict[str, Any]:
    """Build an index of the corpus in `corpus` into `directory`; return its manifest.

    Args:
        corpus: Directory of the corpus; indexes and manifest may be missing.
        directory: Existing directory: empty or, if the engine resumes, as a killed build left it.
        plan: Plan of the index.
        executor: Executor for what the engine can do in parallel; no file depends on it.

    Raises:
        DataError: If the engine has no such option.
        OSError: If a file is cut off: `numpy.save` ignores a full disk.
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
    if executor is not None and kind.spreads and (executor.remote or executor.workers > 1):
        options["spread"] = executor.run
    description = kind.build(papers, directory, plan.fields, bar, **options) or {}
    try:
        for path in directory.rglob("*.npy"):
            load_array(path)
    except CorpusError:
        raise OSError(
            errno.ENOSPC, f"the index {plan.name} was cut off when it was written"
        ) from None
    manifest = {
        "fields": list(plan.fields),
        **description,
        "format_version": layout.FORMAT_VERSION,
        "engine": plan.engine,
        "name": plan.name,
        "options": plan.options,
        "corpus": plan.corpus,
        "files": list_files(directory),
    }
    write_json(directory / layout.MANIFEST, manifest)
    return manifest


def list_files(directory: Path, but: str | None = None) -> dict[str, dict[str, Any]]:
    """Return name -> {bytes, sha256} for every file below `directory` but the folder `but`."""
    return {
        path.relative_to(directory).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": sha256_file(path),
        }
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.relative_to(directory).parts[0] != but
    }


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
