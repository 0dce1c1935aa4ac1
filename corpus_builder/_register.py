"""The list of indexes in a corpus' manifest: one writer at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from arena import layout
from arena._files import TEMPORARY_SUFFIX, sha256_file, sha256_json, write_json
from arena._lock import only_writer
from arena.errors import ArenaError, CorpusError
from corpus_builder._index import Plan
from corpus_builder._place import put, take_back

LOCK = ".manifest.lock"
_PATIENCE = 60.0  # seconds; a turn takes some milliseconds


def read_intact(root: Path) -> dict[str, Any]:
    """Read the manifest of a corpus, and check that it is as it was written.

    Raises:
        CorpusError: if not; rewriting it would hide that.
    """
    manifest = layout.read_manifest(root, check_files=False)
    content = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    if manifest["manifest_sha256"] != sha256_json(content):
        raise CorpusError(
            f"{str(root / layout.MANIFEST)!r} has other content than when it was written. "
            "Build the corpus again, or copy it again."
        )
    return manifest


def register(root: Path, plan: Plan, new: Path | None = None) -> None:
    """Put an index in its place and into the manifest of its corpus.

    Args:
        root: the corpus.
        plan: of the index.
        new: the complete index; None if it is in its place already.

    Raises:
        CorpusError: if `root` holds another corpus by now.
        OSError: if the manifest cannot be written; then all is as before.
    """
    index = layout.index_directory(root, plan.name)
    with _turn(root):
        for path in root.glob(f".*{TEMPORARY_SUFFIX}"):
            path.unlink()  # what a kill left of an atomic write
        manifest = read_intact(root)
        if manifest["content_sha256"] != plan.corpus:
            raise CorpusError(
                f"{str(root)!r} holds another corpus than when this index was begun. Begin again."
            )
        old = put(new, index) if new is not None else None
        try:
            del manifest["manifest_sha256"]
            manifest["indexes"][plan.name] = sha256_file(index / layout.MANIFEST)
            manifest["manifest_sha256"] = sha256_json(manifest)
            write_json(root / layout.MANIFEST, manifest)
        except BaseException:
            if new is not None:
                take_back(new, index, old)
            raise


@contextmanager
def _turn(root: Path) -> Iterator[None]:
    lock, end = root / layout.INDEXES / LOCK, time.monotonic() + _PATIENCE
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(only_writer(lock, root / layout.MANIFEST))
                break
            except ArenaError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        yield
