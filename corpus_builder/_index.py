"""What shall be indexed and how, and writing it into an empty directory."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena import __version__
from arena._internal.arrays import load_array
from arena._internal.files import sha256_file, sha256_json, write_json
from arena._internal.progress import progress
from arena.corpus import layout
from arena.errors import CorpusError, DataError, clip, did_you_mean
from arena.retrieval import RETRIEVERS, Combiner, Retriever, parse_name
from corpus_builder._texts import PaperTexts
from corpus_builder.executors import Executor

FIELDS = ("title", "abstract", "fulltext")

# What `Retriever.build` is given besides its options.
_TAKEN = ("source", "directory", "fields", "progress", "spread")


class Plan(NamedTuple):
    """An index to be built.

    Attributes:
        engine: the registered engine that builds it.
        name: what it is called.
        fields: what is indexed.
        options: of the engine.
        corpus: content hash of the corpus.
    """

    engine: str
    name: str
    fields: tuple[str, ...]
    options: dict[str, Any]
    corpus: str

    def description(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self._asdict() | {"fields": list(self.fields)}

    @property
    def key(self) -> str:
        """Tells whether a build that was begun is this one: 16 hexadecimal digits."""
        return sha256_json([__version__, self.description()])[:16]


def check_fields(fields: tuple[str, ...]) -> None:
    """Refuse unknown, repeated or no fields.

    Raises:
        DataError: naming the field and the known ones.
    """
    for field in fields:
        if field not in FIELDS:
            raise DataError(f"no field {field!r} to index.{did_you_mean(field, FIELDS)}")
    if not fields or len(set(fields)) < len(fields):
        raise DataError(
            f"fields={','.join(fields)!r}: name each of {', '.join(FIELDS)} at most once."
        )


def check_engine(engine: str) -> type[Retriever]:
    """Return the class of an engine that builds an index.

    Raises:
        UnknownNameError: if there is none of that name.
        DataError: if it only combines others.
    """
    parts = isinstance(engine, str) and parse_name(engine).parts
    kind = RETRIEVERS.get(parse_name(engine).name if parts else engine)
    if issubclass(kind, Combiner):
        kind.refuse_alone()
    return RETRIEVERS.get(engine)


def check_name(name: object, engine: str) -> str:
    """Return the name of an index, if it can be one.

    Raises:
        DataError: if it is malformed, or the name of another engine.
    """
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
    return name


def make_plan(
    engine: str,
    name: str | None,
    fields: Sequence[str],
    options: Mapping[str, Any] | None,
    corpus: str,
) -> tuple[Plan, type[Retriever]]:
    """Check what can be checked before any work; return the plan and the class of its engine.

    Raises:
        UnknownNameError, DataError: if an argument is unusable. The engine checks its options.
    """
    kind = check_engine(engine)
    if isinstance(fields, str):
        raise DataError(f"fields={clip(fields)}: give a list of names.")
    check_fields(tuple(fields))
    options = dict(options or {})
    for option in options:
        if option in _TAKEN:
            hint = " Use --fields." if option == "fields" else ""
            raise DataError(f"{engine} has no option {clip(option)} to build with.{hint}")
    name = check_name(engine if name is None else name, engine)
    plan = Plan(engine, name, tuple(fields), options, corpus)
    try:
        sha256_json(options)
    except TypeError as error:
        raise DataError(f"the options of {engine} must be what JSON can hold: {error}.") from None
    return plan, kind


def write_index(
    corpus: Path, directory: Path, plan: Plan, executor: Executor | None = None
) -> dict[str, Any]:
    """Build an index of the corpus in `corpus` into `directory`; return its manifest.

    Args:
        corpus: complete but for its indexes and its manifest.
        directory: exists; empty, or, if the engine resumes, as a killed build left it.
        plan: what to build.
        executor: runs what the engine can spread over processes; no file depends on it.

    Raises:
        DataError: if the engine does not take an option.
        OSError: if a file was cut off, as `numpy.save` does in silence on a full disk.
    """
    papers = PaperTexts(corpus)
    settings = {
        "total": int(papers.searchable_before[-1]),
        "desc": f"index {plan.name}",
        "unit": "paper",
    }

    def bar(iterable: Iterable[Any], **options: Any) -> Iterable[Any]:
        return progress(iterable, **(settings | options))  # type: ignore[no-any-return]

    kind, options = RETRIEVERS.get(plan.engine), dict(plan.options)
    if executor is not None and kind.spreads and (executor.remote or executor.workers > 1):
        options["spread"] = executor.run
    told = kind.build(papers, directory, plan.fields, bar, **options)
    try:
        for path in directory.rglob("*.npy"):
            load_array(path)
    except CorpusError:
        raise OSError(
            errno.ENOSPC, f"the index {plan.name} was cut off when it was written"
        ) from None
    manifest = {
        "fields": list(plan.fields),
        **told,
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
    """Return name -> {bytes, sha256} for every file below `directory`, the folder `but` apart."""
    return {
        path.relative_to(directory).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": sha256_file(path),
        }
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.relative_to(directory).parts[0] != but
    }
