"""The manifest of a corpus: its files listed, parts added by one writer at a time, all compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from arena.corpus import layout
from arena.errors import CorpusError
from arena.kit.files import sha256_file, sha256_json, write_json
from arena.kit.terminal import progress
from arena.kit.workdir import (
    clear_temporary,
    exclusive_lock,
    is_temporary,
    publish,
    restore,
)

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


def register(root: Path, corpus: str, key: str, place: Path, new: Path) -> None:
    """Move an index, the digests of an input, or a card to its place, and add it to the manifest.

    `new` was made from the corpus with the content hash `corpus`; raise CorpusError if `root` has
    another one now. `key` is ``indexes``, ``digests`` or ``card``.
    """
    lock = root / layout.INDEXES / LOCK
    lock.parent.mkdir(exist_ok=True)
    with exclusive_lock(lock, root / layout.MANIFEST, _PATIENCE):
        clear_temporary([root])
        manifest = layout.read_manifest(root)
        if manifest["content_sha256"] != corpus:
            raise CorpusError(
                f"{str(root)!r} contains another corpus than when this command began. Give the "
                "command again."
            )
        publish(new, place)
        try:
            if key == layout.CARD:
                files = list_files(place)
                manifest[key] = {f"{layout.CARD}/{name}": entry for name, entry in files.items()}
            else:
                manifest.setdefault(key, {})[place.name] = sha256_file(place / layout.MANIFEST)
            del manifest["manifest_sha256"]
            manifest["manifest_sha256"] = sha256_json(manifest)
            write_json(root / layout.MANIFEST, manifest)
        except BaseException:
            restore(new, place)
            raise


_UNFINISHED = re.compile(rf"\.(.+)\.building(\.lock)?|{re.escape(LOCK)}")


def verify(directory: str | Path) -> dict[str, Any]:
    """Hash every file of a corpus, its indexes and its card.

    Returns:
        ``files``: number of compared files; ``problems``: file name -> what differs, empty if the
        corpus is as it was built. An index whose build is unfinished is none.
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
        if any(map(_UNFINISHED.fullmatch, file.parts)) or is_temporary(path):
            continue
        if file.as_posix() not in expected and not any(map(file.is_relative_to, unknown)):
            problems[file.as_posix()] = "is not in the manifest"
    return {"files": len(expected) + 1, "problems": dict(sorted(problems.items()))}


def _expected(files: dict[str, Any]) -> dict[str, str]:
    return {name: entry["sha256"] for name, entry in files.items()}
