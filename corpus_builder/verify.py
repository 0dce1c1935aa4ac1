"""Compare a corpus on disk with the hashes in its manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json
from arena._internal.tables import progress
from arena._internal.workdir import is_temporary
from arena.corpus import layout
from corpus_builder.index import is_unfinished, unfinished_builds


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
