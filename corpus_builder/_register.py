"""Register indexes, digests and the card of a corpus in its manifest, one writer at a time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, nullcontext
from glob import escape
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json, write_json
from arena._internal.workdir import (
    REPLACED,
    clear_temporary,
    only_writer,
    other_files,
    put,
    sync,
    take_back,
)
from arena.corpus import layout
from arena.errors import ArenaError, CorpusError, clip
from corpus_builder._index import list_files

LOCK = ".manifest.lock"
_PATIENCE = 60.0  # seconds; a turn takes some milliseconds


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
