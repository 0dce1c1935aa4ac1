"""The indexes of a built corpus: which it has, what one is, and the command that builds it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file
from arena.corpus import layout
from arena.errors import CorpusError
from arena.registry import recorded_name


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
    """Return the manifest of an index; with `sha256`, check that it belongs to that corpus.

    Raises CorpusError, which names the command that builds this index again, if it is missing,
    damaged, of another format version or of another corpus.
    """
    directory = layout.index_directory(corpus, name)
    rebuild = rebuild_command(corpus, name)
    manifest = layout.read_manifest(
        directory, f"{name} index", check_files=check_files, rebuild=rebuild
    )
    recorded_name(str(manifest["engine"]), directory / layout.MANIFEST)
    if sha256 is not None and manifest["corpus"] != sha256:
        raise CorpusError(
            f"the index in {str(directory)!r} was built for corpus {str(manifest['corpus'])[:12]}, "
            f"this is {sha256[:12]}. Build it again with `{rebuild}`."
        )
    if sha256 is not None and not _is_registered(corpus, name):
        raise CorpusError(
            f"{str(directory / layout.MANIFEST)!r} is damaged: its content is not what was built. "
            f"Build it again with `{rebuild}`."
        )
    return manifest


def _is_registered(corpus: Path, name: str) -> bool:
    """Return whether the manifest of the corpus has this index, or is about to get it."""
    manifest = layout.index_directory(corpus, name) / layout.MANIFEST
    for _ in range(2):  # another process may be between the index and the manifest
        building = layout.building_directory(corpus, name).exists()
        registered = layout.read_manifest(corpus, check_files=False)["indexes"].get(name)
        if building or registered in (None, sha256_file(manifest)):
            return True
    return False


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
            descriptions[name] = f"{name}, which cannot be read; see `arena-corpus verify`"
    return descriptions


def build_command(
    corpus: Path,
    engine: str,
    name: str | None = None,
    fields: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = False,
) -> str:
    """Return the ``arena-corpus index`` command with these arguments, as a shell takes it."""
    words = ["arena-corpus", "index", str(corpus), "--engine", engine]
    if name is not None and name != engine:
        words += ["--name", name]
    if fields is not None:
        words += ["--fields", ",".join(fields)]
    for key, value in (options or {}).items():
        text = value if isinstance(value, str) else json.dumps(value)
        words += ["--encoder", text] if key == "encoder" else ["--option", f"{key}={text}"]
    if overwrite:
        words.append("--overwrite")
    return shlex.join(words)


def rebuild_command(corpus: Path, name: str) -> str:
    """Return the command that builds the index `name` again, as far as its manifest can be read."""
    from arena.retrieval import RETRIEVERS

    manifest = _peek(layout.index_directory(corpus, name))
    engine, fields = manifest.get("engine"), manifest.get("fields")
    configuration, options = _peek(corpus).get("configuration"), manifest.get("options")
    usual = configuration.get("fields") if isinstance(configuration, dict) else None
    listed = isinstance(fields, list) and all(isinstance(field, str) for field in fields)
    return build_command(
        corpus,
        engine if isinstance(engine, str) else name if name in RETRIEVERS.names() else "ENGINE",
        name,
        fields if listed and fields != usual else None,
        options if isinstance(options, dict) else None,
        overwrite=True,
    )


def _peek(directory: Path) -> dict[str, Any]:
    """Return a manifest that may be damaged; nothing if it cannot be read at all."""
    try:
        manifest = json.loads((directory / layout.MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
