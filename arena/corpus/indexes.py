"""The indexes of a built corpus: which it has, and the engines they open."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.corpus import layout
from arena.corpus.integrity import require_intact
from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import sha256_file, sha256_json
from arena.plugins import recorded_name
from arena.retrieval import RETRIEVERS, Combiner, Name, Retriever, engine_of, parse_name


def index_names(corpus: Path) -> list[str]:
    """Return the names of the indexes in the directory of a corpus, sorted."""
    folder = corpus / layout.INDEXES
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if has_index(corpus, path.name))


def has_index(corpus: Path, name: object) -> bool:
    """Return whether the corpus has an index of that name; an unfinished one does not count."""
    return (
        isinstance(name, str)
        and layout.INDEX_NAME.fullmatch(name) is not None
        and layout.index_directory(corpus, name).exists()
    )


def read_index(
    corpus: Path, name: str, sha256: str | None = None, *, check_files: bool = True
) -> dict[str, Any]:
    """Return the manifest of an index; with `sha256`, check that it belongs to that corpus."""
    directory = layout.index_directory(corpus, name)
    manifest = layout.read_manifest(directory, f"{name} index", check_files=check_files)
    recorded_name(str(manifest["engine"]), directory / layout.MANIFEST)
    if sha256 is not None and manifest["corpus"] != sha256:
        raise CorpusError(
            f"the index in {str(directory)!r} was built for corpus {str(manifest['corpus'])[:12]}, "
            f"this is {sha256[:12]}. Build it again.",
            directory,
        )
    registered = layout.read_manifest(corpus, check_files=False)["indexes"].get(name)
    if sha256 is not None and registered not in (None, sha256_file(directory / layout.MANIFEST)):
        raise CorpusError(
            f"{str(directory / layout.MANIFEST)!r} is damaged, or was replaced just now: its "
            "content is not what was built. Build it again.",
            directory,
        )
    return manifest


def describe_index(name: str, manifest: Mapping[str, Any]) -> str:
    """Return an index in a few words, such as ``"titles (bm25) over title"``."""
    engine, encoder = manifest.get("engine"), manifest.get("encoder")
    if isinstance(encoder, Mapping):
        encoder = encoder.get("name")
    text = name if name == engine else f"{name} ({engine})"
    if isinstance(manifest.get("fields"), list):
        text += f" over {', '.join(map(str, manifest['fields']))}"
    return f"{text}, encoder {encoder}" if isinstance(encoder, str) else text


def describe_indexes(corpus: Path, names: Sequence[str]) -> dict[str, str]:
    """Return name -> a few words, also for an index that cannot be read."""
    descriptions = {}
    for name in names:
        try:
            descriptions[name] = describe_index(name, read_index(corpus, name, check_files=False))
        except CorpusError:
            descriptions[name] = f"{name}, which cannot be read"
    return descriptions


class Engines:
    """Opens each engine of a corpus once, over an index or over other engines.

    With `check` the files of an index are compared with their hashes.
    """

    def __init__(self, directory: Path, sha256: str, check: bool = True) -> None:
        self._directory, self._sha256, self._check = directory, sha256, check
        self._opening = threading.RLock()
        self.opened: dict[str, tuple[Retriever, str, dict[str, Any]]] = {}
        """The engines, each with its name and options."""
        self.hashes: dict[str, str] = {}
        """The hashes of the indexes that were opened; a pickle opens no others in their place."""

    def name_of(self, engine: Retriever) -> tuple[str, dict[str, Any]]:
        """Return the name and the options by which an engine was opened."""
        for opened, name, options in self.opened.values():
            if opened is engine:
                return name, options
        raise CorpusError(
            f"the retriever {type(engine).__name__} was not opened by this corpus. "
            "Pass corpus.retriever(name)."
        )

    def sha256_of(self, name: Name) -> str:
        """Return the hash of an index or a combination; see `Corpus.index_sha256`."""
        if name.parts:
            return sha256_json([str(name), [self.sha256_of(part) for part in name.parts]])
        self._index(name.name)
        return sha256_file(layout.index_directory(self._directory, name.name) / layout.MANIFEST)

    def open(self, name: Name, options: dict[str, Any]) -> Retriever:
        """Open an engine; see `Corpus.retriever`."""
        try:
            key = f"{name} {sha256_json(options)}"
        except TypeError as error:
            raise DataError(f"the options of {name} must be JSON values: {error}.") from None
        with self._opening:
            if key not in self.opened:
                opening = self._combine if name.parts else self._open_index
                self.opened[key] = opening(name, options), str(name), options
            return self.opened[key][0]

    def _combine(self, name: Name, options: Mapping[str, Any]) -> Retriever:
        """Open a combination; `options` may have those of a part, under its canonical name."""
        kind = RETRIEVERS.get(name.name)
        if not issubclass(kind, Combiner):
            raise DataError(
                f"retriever {clip(str(name))}: {name.name} takes no parts. Name it alone."
            )
        own = {str(parse_name(key)) if "(" in key else key: options[key] for key in options}
        parts = {}
        for part in name.parts:
            part_options = own.pop(str(part), {})
            if not isinstance(part_options, Mapping):
                raise DataError(
                    f"{part}={clip(part_options)}: the options of a part are given as a mapping, "
                    f'such as {part}={{"NAME": VALUE}}.'
                )
            parts[str(part)] = self.open(part, dict(part_options))
        return kind.combine(parts, **own)

    def _open_index(self, name: Name, options: dict[str, Any]) -> Retriever:
        manifest = self._index(name.name)
        engine = manifest["engine"]
        directory = layout.index_directory(self._directory, name.name)
        kind = RETRIEVERS.get(engine)
        unsafe = [file for file in kind.unsafe_files if file in manifest["files"]]
        names = None if self._check else unsafe
        try:
            require_intact(directory, manifest["files"], names=names)
            opened = kind.open(directory, **options)
        except CorpusError as error:
            error.parts = (directory,)
            raise
        sha256 = self.sha256_of(name)
        if self._index(name.name) != manifest or self.hashes.get(name.name, sha256) != sha256:
            raise CorpusError(
                f"the index in {str(directory)!r} was rebuilt since it was opened; "
                "open the corpus again."
            )
        self.hashes[name.name] = sha256
        return opened

    def _index(self, name: str) -> dict[str, Any]:
        """Return the manifest of an index that this release can open, or say why there is none."""
        from arena.text import ANALYZER

        where, directory = str(self._directory), layout.index_directory(self._directory, name)
        if not has_index(self._directory, name):
            if (engine := engine_of(name)) is None:
                raise self._unknown(name)
            kind = RETRIEVERS.get(engine)
            if issubclass(kind, Combiner):
                kind.refuse_alone()
            raise CorpusError(f"{where!r} has no index {name!r}. Build it first.", directory)
        manifest = read_index(self._directory, name, self._sha256)
        if manifest.get("analyzer", ANALYZER) != ANALYZER:
            raise CorpusError(
                f"the index {name!r} of {where!r} was made by the analyzer "
                f"{clip(manifest['analyzer'])}, this release has {ANALYZER!r}. Build it again.",
                directory,
            )
        try:
            RETRIEVERS.get(manifest["engine"])
        except UnknownNameError:
            raise CorpusError(
                f"the index {name!r} of {where!r} was made by the engine "
                f"{clip(manifest['engine'])}, which is not installed."
                f"{did_you_mean(manifest['engine'], RETRIEVERS.names())} An engine of your own is "
                "loaded with --plugin FILE."
            ) from None
        return manifest

    def _unknown(self, name: object) -> UnknownNameError:
        known = {*RETRIEVERS.names(), *index_names(self._directory)}
        return UnknownNameError(f"no retriever named {clip(name)}.{did_you_mean(name, known)}")
