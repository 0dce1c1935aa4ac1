"""The manifest of a corpus: its files listed, parts added by one writer at a time, all compared."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from glob import escape
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json, write_json
from arena._internal.terminal import progress
from arena._internal.workdir import (
    REPLACED,
    clear_temporary,
    is_temporary,
    only_writer,
    other_files,
    put,
    sync,
    take_back,
)
from arena.corpus import indexes, layout
from arena.errors import ArenaError, CorpusError, clip

LOCK = ".manifest.lock"
_PATIENCE = 60.0  # seconds; a turn takes some milliseconds


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


def register(root: Path, corpus: str, key: str, place: Path, new: Path | None = None) -> None:
    """Move an index, or the digests of an input, to its place, and add it to the manifest.

    Args:
        root: Directory of the corpus.
        corpus: Content hash of the corpus that it was made from.
        key: Key of the manifest: ``indexes`` or ``digests``.
        place: Directory that it moves to.
        new: Complete directory; None if it is in its place already.

    Raises:
        CorpusError: If `root` now holds another corpus.
        OSError: If the manifest cannot be written; then the corpus is as before.
    """
    with (
        _manifest(root, corpus, place.parent.name) as manifest,
        nullcontext() if new is None else _placed(new, place),
    ):
        manifest.setdefault(key, {})[place.name] = sha256_file(place / layout.MANIFEST)
        _rewrite(root, manifest)


def register_card(root: Path, corpus: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Write a card in place of an older one, and add it to the manifest of its corpus.

    Args:
        root: Directory of the corpus.
        corpus: Content hash of the corpus that the card describes.
        files: Name -> content of the card's files.

    Returns:
        The card's files in the manifest: name in the corpus -> ``bytes``, ``sha256``.

    Raises:
        CorpusError: If `root` now holds another corpus, or the card's directory other files.
        OSError: If it cannot be written; then the corpus is as before.
    """
    card, building = root / layout.CARD, root / layout.CARD_BUILDING
    with _manifest(root, corpus, "card") as manifest:
        if (building / REPLACED).is_dir() and not card.exists():
            (building / REPLACED).rename(card)  # a killed process moved it away
        _check_card(card, {*files, *(Path(name).name for name in manifest.get("card", ()))})
        shutil.rmtree(building, ignore_errors=True)
        try:
            new = building / layout.CARD
            new.mkdir(parents=True)
            for name, content in files.items():
                (new / name).write_bytes(content.encode("utf-8"))
            sync(new)
            manifest["card"] = list_files(building)
            with _placed(new, card):
                _rewrite(root, manifest)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return dict(manifest["card"])


@contextmanager
def _placed(new: Path, place: Path) -> Iterator[None]:
    """Move `new` to `place`; move it back if the block fails."""
    old = put(new, place)
    try:
        yield
    except BaseException:
        take_back(new, place, old)
        raise


def _check_card(card: Path, ours: Set[str]) -> None:
    """Raise `CorpusError` if the card's directory is no directory, or holds other files."""
    if card.is_symlink() or (card.exists() and not card.is_dir()):
        raise CorpusError(f"{str(card)!r} is no folder; the card needs that name. Move it away.")
    others = other_files(card, map(escape, ours)) if card.exists() else []
    if others:  # never delete what is not ours
        raise CorpusError(
            f"{str(card)!r} holds other files, {clip(others[0])} for one. Move them away."
        )


@contextmanager
def _manifest(root: Path, corpus: str, what: str) -> Iterator[dict[str, Any]]:
    """Yield the manifest of a corpus to be rewritten, while no other process can change it."""
    lock, end = root / layout.INDEXES / LOCK, time.monotonic() + _PATIENCE
    lock.parent.mkdir(exist_ok=True)
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(only_writer(lock, root / layout.MANIFEST))
                break
            except ArenaError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        clear_temporary([root])
        manifest = layout.read_manifest(root)
        if manifest["content_sha256"] != corpus:
            raise CorpusError(
                f"{str(root)!r} holds another corpus than when this {what} was begun. Begin again."
            )
        yield manifest


def _rewrite(root: Path, manifest: dict[str, Any]) -> None:
    del manifest["manifest_sha256"]
    manifest["manifest_sha256"] = sha256_json(manifest)
    write_json(root / layout.MANIFEST, manifest)


_FOLDER = re.compile(r"\.(.+)\.building")


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


def verify(directory: str | Path) -> dict[str, Any]:
    """Hash every file of a corpus, its indexes and its card.

    Returns:
        ``files``: number of compared files; ``problems``: file name -> what differs, empty if the
        corpus is as it was built; ``begun``: name of an index whose build is unfinished -> the
        command that continues it.

    Raises:
        CorpusError: If there is no readable manifest.
    """
    root = Path(directory)
    manifest = layout.read_manifest(root, check_files=False)
    problems: dict[str, str] = {}
    if manifest.pop("manifest_sha256") != sha256_json(manifest):
        problems[layout.MANIFEST] = "has other content"
    expected = _expected(manifest["files"]) | _expected(manifest.get("card", {}))
    unknown = []  # folders of indexes and digests whose own list of files is lost
    parts = [(layout.INDEXES, *item) for item in manifest["indexes"].items()]
    parts += [(layout.DIGESTS, *item) for item in manifest.get("digests", {}).items()]
    for part, part_name, sha256 in parts:
        folder = Path(part, part_name)
        name = (folder / layout.MANIFEST).as_posix()
        expected[name] = sha256
        if (root / name).is_file() and sha256_file(root / name) == sha256:
            index = layout.read_manifest(root / folder, part, check_files=False)
            expected |= {
                (folder / file).as_posix(): h for file, h in _expected(index["files"]).items()
            }
        else:
            unknown.append(folder)
    for name in progress(sorted(expected), desc="verify", unit="file"):
        path = root / name
        if not path.is_file():
            problems[name] = "is missing"
        elif sha256_file(path) != expected[name]:
            problems[name] = "has other content"
    for path in root.rglob("*"):
        file = path.relative_to(root)
        if (path.is_dir() and not path.is_symlink()) or file == Path(layout.MANIFEST):
            continue
        # What killed commands left; the next command clears it.
        if is_unfinished(file) or file.parts[0] == layout.CARD_BUILDING or is_temporary(path):
            continue
        if file.as_posix() not in expected and not any(map(file.is_relative_to, unknown)):
            problems[file.as_posix()] = "is not in the manifest"
    return {
        "files": len(expected) + 1,
        "problems": dict(sorted(problems.items())),
        "begun": unfinished_builds(root),
    }


def _expected(files: dict[str, Any]) -> dict[str, str]:
    return {name: entry["sha256"] for name, entry in files.items()}
