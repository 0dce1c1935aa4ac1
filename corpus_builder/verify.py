"""Compare a corpus on disk with the hashes in its manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena import layout
from arena._files import sha256_file
from arena._progress import progress


def verify(directory: str | Path) -> dict[str, Any]:
    """Hash every file of a corpus and its indexes again.

    Returns:
        ``files``: how many were compared; ``problems``: file name -> what differs, empty if the
        corpus is as it was built.

    Raises:
        CorpusError: if there is no readable manifest.
    """
    root = Path(directory)
    manifest = layout.read_manifest(root, check_files=False)
    expected = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    problems: dict[str, str] = {}
    for engine, sha256 in manifest["indexes"].items():
        folder = layout.index_directory(Path(), engine)
        name = (folder / layout.MANIFEST).as_posix()
        expected[name] = sha256
        if (root / name).is_file() and sha256_file(root / name) == sha256:
            index = layout.read_manifest(root / folder, check_files=False)
            for file, entry in index["files"].items():
                expected[(folder / file).as_posix()] = entry["sha256"]
    for name in progress(sorted(expected), desc="verify", unit="file"):
        path = root / name
        if not path.is_file():
            problems[name] = "is missing"
        elif sha256_file(path) != expected[name]:
            problems[name] = "has other content"
    known = expected.keys() | {layout.MANIFEST}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name not in known:
            problems[name] = "is not in the manifest"
    return {"files": len(expected), "problems": problems}
